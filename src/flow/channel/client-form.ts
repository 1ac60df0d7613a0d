// Converts a round of questions to one request to the client, and reads the answers back. Client forms are flat and know few types, so
// fields of forms become top-level fields, and choices that are not text travel as text. Secrets and files do not belong in a client's
// form; Parley's page asks for them.
import type { Ask } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { ELICIT_INPUT } from '../../kernel/methods.ts';
import type { AskFailure } from '../authoring/ask-failure.ts';
import { toLabel } from '../engine/question-spec.ts';
import { isRequired, toAnswerSchema } from '../question/answer-schema.ts';
import { toPromptId } from '../question/question.ts';
import type { Field, Question } from '../question/question.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { GivenAnswer } from '../session/context/requests.ts';

/** A turn with open questions, and what led to it. */
export interface FormRound {
  turn: Turn;
  /** Text to show first. */
  told?: string | undefined;
  /** Answers to the previous round; refused ones are shown again. */
  given?: readonly GivenAnswer[] | undefined;
}

export function toFormAsk({ turn: { questions, header }, told, given = [] }: FormRound): Ask {
  const { message, requestedSchema } = toForm(questions, { told, entered: toRefusedValues(questions, given) });
  return {
    method: ELICIT_INPUT,
    params: { mode: 'form', message, requestedSchema },
    ...(questions.some(({ by }) => by === 'human') && { human: true }),
    ...(questions.some(needsPage) && { page: true }),
    ...(header.rounds > 1 && { revisable: true }),
    key: toRoundKeys(questions),
  };
}

/** Refused values by key. */
function toRefusedValues(questions: readonly Question[], given: readonly GivenAnswer[]): Map<string, unknown> {
  const last = new Map(given.map(({ promptId, value }) => [promptId, value]));
  const again = questions.filter(({ complaint, attempt }) => complaint !== undefined && attempt > 1);
  return new Map(again.map(({ key, attempt }) => [key, last.get(toPromptId(key, attempt - 1))]));
}

export function needsPage({ secret, kind, fields = {} }: Question): boolean {
  return secret === true || kind === 'file' || Object.values(fields).some((field) => field.kind === 'file');
}

/** The keys of the questions; a repeated question has its attempt in the key. */
export function toRoundKeys(questions: readonly Question[]): string {
  return questions.map(({ key, attempt, promptId }) => (attempt === 1 ? key : promptId)).join(' ');
}

export function toGivenAnswers(questions: readonly Question[], answer: JsonObject): GivenAnswer[] {
  if (answer.action === 'accept') return fromForm(questions, answerContent(answer));
  const no: AskFailure = answer.action === 'decline' ? 'declined' : 'cancelled';
  return questions.map(({ promptId }) => ({ promptId, no }));
}

type FormQuestion = Field & Pick<Question, 'secret'>;

interface ClientForm {
  message: string;
  requestedSchema: JsonObject;
}

/** JSON Schema keywords that client forms do not know. */
const UNKNOWN = ['formatMinimum', 'formatMaximum', 'uniqueItems', 'additionalProperties'];

/** `entered`: refused answers by the key of their question, to show them again. */
interface FormContext {
  told?: string | undefined;
  entered?: ReadonlyMap<string, unknown>;
}

export function toForm(questions: readonly Question[], { told, entered = new Map() }: FormContext = {}): ClientForm {
  const isOneOfSeveral = questions.length > 1;
  const fields = questions.flatMap((question) => fieldsOf(question, isOneOfSeveral, entered.get(question.key)));
  // The message of a single question is the message of the form.
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

/** Two forms in one round may have fields of the same name. */
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

/** Leaves out what is shown next to it already. */
function toDescription({ prompt: { message }, help }: FormQuestion, said: (string | undefined)[]): JsonObject {
  const words = [...(said.includes(message) ? [] : [message]), ...(help === undefined ? [] : [help])];
  return words.length > 0 ? { description: words.join(' ') } : {};
}

/** The refused value, if the field can show it. Never suggests a yes and never shows a secret. */
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

/** For Parley's page; client forms have no files. */
function toFile({ prompt }: Field): JsonObject {
  const { accept, maxBytes } = prompt.validation ?? {};
  return {
    type: 'object',
    'x-parley': 'file',
    ...(accept && { accept: accept.join(',') }),
    ...(maxBytes !== undefined && { maxBytes }),
  };
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

/** Without a title, clients show the name of the field; `action#2` and `pears.count` are not names that an author chose. */
function titleOf(name: string): string | undefined {
  return /[#.]/.test(name) ? toLabel(name) : undefined;
}

/** Answers in the order of the questions. A missing field is not an answer, which is refused if one is required. */
function fromForm(questions: readonly Question[], content: JsonObject): GivenAnswer[] {
  return questions.map((question) => ({
    promptId: question.promptId,
    value: valueOf(question, content, questions.length > 1),
  }));
}

function valueOf(question: Question, content: JsonObject, isOneOfSeveral: boolean): unknown {
  if (question.kind !== 'form') return fromText(question, content[question.key]);
  const fields = Object.entries(question.fields ?? {});
  const toName = namesOf(question, isOneOfSeveral);
  const values = fields.map(([name, field]) => [name, fromText(field, content[toName(name)])] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Converts text back to the value of its choice. */
function fromText({ kind, prompt }: Field, given: unknown): unknown {
  if (!prompt.choices || given === undefined) return given;
  const back = (text: unknown): unknown =>
    prompt.choices!.find(({ value, label }) => String(value) === text || label === text)?.value ?? text;
  return kind === 'choices' && Array.isArray(given) ? given.map(back) : back(given);
}

export function answerContent(answer: JsonObject): JsonObject {
  return isObject(answer.content) ? answer.content : {};
}

export function toFieldNames(questions: readonly Question[]): string[] {
  return questions.flatMap((question) => fieldsOf(question, questions.length > 1).map(({ name }) => name));
}
