// The questions of a round as one form of the client (`elicitation/create`), and the answers read back from it. Forms are flat and
// know few types: the fields of a form stand beside each other, and options that are no texts travel as texts.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Field, Question } from '../question/question.ts';
import type { GivenAnswer } from '../session/verbs/requests.ts';
import { isRequired, toAnswerSchema } from '../question/answer-schema.ts';
import { toLabel } from '../engine/question-spec.ts';

type FormQuestion = Field & Pick<Question, 'secret'>;

export interface ClientForm {
  message: string;
  requestedSchema: JsonObject;
}

/** JSON Schema that forms of clients do not know. */
const UNKNOWN = ['formatMinimum', 'formatMaximum', 'uniqueItems', 'additionalProperties'];

/** `entered`: answers that were refused, by the key of their question; they are shown again. */
export interface FormContext {
  told?: string | undefined;
  entered?: ReadonlyMap<string, unknown>;
}

export function toForm(questions: readonly Question[], { told, entered = new Map() }: FormContext = {}): ClientForm {
  const isOneOfSeveral = questions.length > 1;
  const fields = questions.flatMap((question) => fieldsOf(question, isOneOfSeveral, entered.get(question.key)));
  // The words of a question that is alone are those of its form.
  const said = isOneOfSeveral ? undefined : questions[0]?.prompt.message;
  const properties = Object.fromEntries(
    fields.map(({ name, field, was }) => {
      const title = field.label ?? (isOneOfSeveral ? field.prompt.message : titleOf(name));
      return [name, { ...toProperty(field, title), ...toDescription(field, [title, said]), ...toDefault(field, was) }];
    }),
  );
  const required = fields.filter(({ field }) => isRequired(field)).map(({ name }) => name);
  return {
    message: messageOf(questions, told),
    requestedSchema: { type: 'object', properties, ...(required.length > 0 && { required }) },
  };
}

/** Answers in the order of the questions; what was left out is no answer, and is refused where one is needed. */
export function fromForm(questions: readonly Question[], content: JsonObject): GivenAnswer[] {
  return questions.map((question) => ({
    promptId: question.promptId,
    value: valueOf(question, content, questions.length > 1),
  }));
}

export function toFieldNames(questions: readonly Question[]): string[] {
  return questions.flatMap((question) => fieldsOf(question, questions.length > 1).map(({ name }) => name));
}

function fieldsOf(
  question: Question,
  isOneOfSeveral: boolean,
  was?: unknown,
): { name: string; field: FormQuestion; was: unknown }[] {
  if (question.kind !== 'form') return [{ name: question.key, field: question, was }];
  const toName = namesOf(question, isOneOfSeveral);
  const parts = isObject(was) ? was : {};
  return Object.entries(question.fields ?? {}).map(([name, field]) => ({
    name: toName(name),
    field,
    was: parts[name],
  }));
}

function valueOf(question: Question, content: JsonObject, isOneOfSeveral: boolean): unknown {
  if (question.kind !== 'form') return fromText(question, content[question.key]);
  const fields = Object.entries(question.fields ?? {});
  const toName = namesOf(question, isOneOfSeveral);
  const values = fields.map(([name, field]) => [name, fromText(field, content[toName(name)])] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Two forms side by side may have fields of the same name. */
function namesOf({ key }: Question, isOneOfSeveral: boolean): (field: string) => string {
  return (field) => (isOneOfSeveral ? `${key}.${field}` : field);
}

function toProperty(field: FormQuestion, title: string | undefined): JsonObject {
  const schema = Object.fromEntries(Object.entries(toAnswerSchema(field)).filter(([name]) => !UNKNOWN.includes(name)));
  const { choices } = field.prompt;
  const options = choices?.map(({ value, label }) => ({ const: String(value), title: label }));
  const typed = options && field.kind === 'choice' ? { type: 'string', oneOf: options } : {};
  const several = options && field.kind === 'choices' ? { items: { anyOf: options } } : {};
  const { description: _, ...bare } = schema;
  const { oneOf, enum: values, ...rest } = bare;
  return {
    ...(field.kind === 'file' ? toFile(field) : options ? rest : bare),
    ...(field.secret && { format: 'password' }),
    ...typed,
    ...several,
    ...(title !== undefined && { title }),
  };
}

/** What is not said beside it already. */
function toDescription({ prompt: { message }, help }: FormQuestion, said: (string | undefined)[]): JsonObject {
  const words = [...(said.includes(message) ? [] : [message]), ...(help === undefined ? [] : [help])];
  return words.length > 0 ? { description: words.join(' ') } : {};
}

/** What was entered before, where the field could show it. A yes is never suggested, and a secret not shown again. */
function toDefault({ kind, secret, prompt }: FormQuestion, was: unknown): JsonObject {
  const isOption = (one: unknown): boolean => prompt.choices?.some(({ value }) => value === one) === true;
  const isShowable: Partial<Record<FormQuestion['kind'], boolean>> = {
    text: typeof was === 'string' && secret !== true,
    date: typeof was === 'string',
    number: typeof was === 'number',
    choice: isOption(was),
    choices: Array.isArray(was) && was.every(isOption),
  };
  if (was === '' || isShowable[kind] !== true) return {};
  return { default: prompt.choices ? (Array.isArray(was) ? was.map(String) : String(was)) : was };
}

/** As our page shows it; no form of a client does. */
function toFile({ prompt }: Field): JsonObject {
  const { accept, maxBytes } = prompt.validation ?? {};
  return {
    type: 'object',
    'x-parley': 'file',
    ...(accept && { accept: accept.join(',') }),
    ...(maxBytes !== undefined && { maxBytes }),
  };
}

/** Options that are no texts come back as what they are. */
function fromText({ kind, prompt }: Field, given: unknown): unknown {
  if (!prompt.choices || given === undefined) return given;
  const back = (text: unknown): unknown =>
    prompt.choices!.find(({ value, label }) => String(value) === text || label === text)?.value ?? text;
  return kind === 'choices' && Array.isArray(given) ? given.map(back) : back(given);
}

function messageOf(questions: readonly Question[], told: string | undefined): string {
  const notes = new Set(questions.flatMap(({ notes = [] }) => notes));
  const complaints = questions.flatMap(({ complaint }) => (complaint ? [wordsOf(complaint)] : []));
  const asked = questions.map(({ prompt }) => prompt.message);
  return [...(told === undefined ? [] : [told]), ...complaints, ...notes, ...asked].join('\n');
}

function wordsOf({ error, suggestion }: NonNullable<Question['complaint']>): string {
  return suggestion === undefined ? `${error}.` : `${error}. ${suggestion}.`;
}

export function answerContent(answer: JsonObject): JsonObject {
  return isObject(answer.content) ? answer.content : {};
}

/** Clients show the name of a field without a title; `action#2` and `pears.count` are names that nobody gave. */
function titleOf(name: string): string | undefined {
  return /[#.]/.test(name) ? toLabel(name) : undefined;
}
