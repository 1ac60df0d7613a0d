// What the client's model reads: the tool by which it answers, and a round of questions as the text of a tool result, which tells it to ask its
// user and not to guess. A server's text is quoted: it is data, not instructions.
import { toSchemaFields } from '../kernel/form/schema-field.ts';
import type { SchemaField } from '../kernel/form/schema-field.ts';
import { toGatewayTool } from '../kernel/gateway-tool.ts';
import { isObject } from '../kernel/message.ts';
import type { JsonObject } from '../kernel/message.ts';
import { foreignAddress, foreignJson, foreignName, quoteForeign } from '../kernel/text/foreign-text.ts';
import type { RoundQuestion, QuestionRound } from './question-round.ts';

export const ANSWER_TOOL = 'parley_answer';

/** The tool by which a model passes on its user's answer. It is listed for clients that cannot be asked. */
export const answerTool: JsonObject = toGatewayTool({
  name: ANSWER_TOOL,
  title: "Pass on the user's answer",
  description:
    'Continues a tool call that waits for its user. Call it only when the result of another tool asked for it and gave a handle, ' +
    "and only with what the user has said. Leave out `answer` after the user has answered on the page. If the user declines, set `decline` to true and leave out `answer`. Returns that tool's result, or its next question.",
  inputSchema: {
    type: 'object',
    properties: {
      handle: { type: 'string', description: 'From the result that asked.' },
      answer: {
        description:
          "The user's answer: an object with the fields that were asked for, or the value alone if there is only one.",
      },
      decline: {
        type: 'boolean',
        description: 'True if the user declines: the tool then continues without an answer, or ends.',
      },
    },
    required: ['handle'],
  },
  annotations: {
    title: "Pass on the user's answer",
    readOnlyHint: false,
    destructiveHint: false,
    openWorldHint: false,
  },
});

interface AnswerWays {
  /** The link to the page of the round. */
  link: string | undefined;
  /** Whether the model may pass on the answer, and changes of earlier answers. */
  hasRelay: boolean;
  hasChanges: boolean;
}

export function toQuestionText(round: QuestionRound, ways: AnswerWays, problem?: string): JsonObject {
  if (round.waitsFor !== undefined) return toWaitingWords(round, round.waitsFor);
  return toResult(round, [
    ...(problem === undefined ? [] : [problem, '']),
    `${whoOf(round)} has not finished: it waits for the user's answer. Ask the user. Do not guess, and do not answer for them.`,
    '',
    ...round.questions.flatMap((question) => wordsOf(question, round.questions.length > 1)),
    '',
    ...howTo(round, ways),
    `It waits until ${new Date(round.expiresAt).toISOString()}.`,
  ]);
}

/** The text of a round that a person answers elsewhere: neither the question nor a link. */
export function toPersonText(
  round: QuestionRound,
  { page, hasChanges }: { page?: string | undefined; hasChanges: boolean },
  problem?: string,
): JsonObject {
  return toResult(round, [
    ...(problem === undefined ? [] : [problem, '']),
    `${whoOf(round)} has not finished: only a person may allow it to continue. A person has been asked. You cannot answer for them. Do not call the tool again.`,
    ...(page === undefined ? [] : [`Tell the user: they find the question at ${page}, after logging in.`]),
    `To wait for their answer, call ${ANSWER_TOOL} with ${JSON.stringify({ handle: round.handle })}.`,
    ...(hasChanges ? [changeWords(round.handle)] : []),
    `It waits until ${new Date(round.expiresAt).toISOString()}.`,
  ]);
}

/** The text of a round without questions. */
function toWaitingWords(round: QuestionRound, waitsFor: string): JsonObject {
  const call = `${ANSWER_TOOL} with ${JSON.stringify({ handle: round.handle })}`;
  return toResult(round, [
    `${whoOf(round)} has not finished: ${quoteForeign(waitsFor)}. Tell the user. There is nothing to answer here. Do not call the tool again.`,
    `To check whether it has continued, call ${call}, now or when the user asks.`,
  ]);
}

function toResult({ handle }: QuestionRound, lines: string[]): JsonObject {
  return { content: [{ type: 'text', text: lines.join('\n') }], _meta: { 'mcp-parley/handle': handle } };
}

function whoOf({ about: { tool, server } }: QuestionRound): string {
  const name = `The tool ${foreignName(String(tool))}`;
  return server === undefined ? name : `${name} (${foreignName(server)})`;
}

function wordsOf({ key, ask }: RoundQuestion, isOneOfSeveral: boolean): string[] {
  const { message, url, requestedSchema } = ask.params ?? {};
  const name = isOneOfSeveral ? `Question ${foreignJson(key)}` : 'Question';
  const lines = [`${name}: ${quoteForeign(message)}`];
  if (typeof url === 'string') lines.push(visitWords(url));
  const properties = propertiesOf(requestedSchema);
  for (const field of toSchemaFields(requestedSchema)) {
    lines.push(`- ${foreignName(field.name)}${describe(field, properties[field.name] ?? {})}`);
  }
  return lines;
}

/** Other addresses can start programs. */
function visitWords(url: string): string {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isWeb
    ? `The user has to visit this page: ${foreignAddress(url)}`
    : `The server names an address that is not a web page. Nobody should open it: ${quoteForeign(url)}`;
}

function howTo({ handle, questions }: QuestionRound, { link, hasRelay, hasChanges }: AnswerWays): string[] {
  const call = (rest: JsonObject): string => `${ANSWER_TOOL} with ${foreignJson({ handle, ...rest })}`;
  if (questions.every(isVisit)) {
    return [
      `Give the user this link. Once they have been there, call ${call({})} for the result.`,
      `If the user declines, call ${call({ decline: true })}.`,
    ];
  }
  const byPage = link && [`The user can answer on this page: ${link}`, `Once they have, call ${call({})}.`];
  const change = hasChanges ? [changeWords(handle)] : [];
  if (!hasRelay) return [...(byPage || []), 'Only the user can answer this, on that page.', ...change];
  const byModel = [
    `${byPage ? 'Or the' : 'The'} user tells you the answer: then call ${call({ answer: exampleOf(questions) })}.`,
    `If the user declines, call ${call({ decline: true })}.`,
  ];
  return [...(byPage || []), ...byModel, ...change];
}

/** The gateway itself notices when the user has been at this page. */
function isVisit({ ask }: RoundQuestion): boolean {
  return ask.ofGateway === true && ask.params?.mode === 'url';
}

function changeWords(handle: string): string {
  const call = (answer: JsonObject): string => `${ANSWER_TOOL} with ${JSON.stringify({ handle, answer })}`;
  return (
    `If the user wants to change an earlier answer instead, call ${call({ edit: { '<name>': '<value>' } })}; ` +
    `to go back to the last question, ${call({ back: true })}.`
  );
}

/** An example answer that shows the type of each value. */
function exampleOf(questions: readonly RoundQuestion[]): unknown {
  const examples = questions.map(({ key, ask }) => [key, shapeOf(ask.params?.requestedSchema)] as const);
  return examples.length === 1 ? examples[0]![1] : Object.fromEntries(examples);
}

function shapeOf(schema: unknown): JsonObject {
  const properties = propertiesOf(schema);
  return Object.fromEntries(toSchemaFields(schema).map((field) => [field.name, exampleValue(field, properties)]));
}

function exampleValue(field: SchemaField, properties: Record<string, JsonObject>): unknown {
  if (field.kind === 'choice') return '<value>';
  if (field.kind === 'choices') return ['<value>'];
  const { type } = properties[field.name] ?? {};
  return `<${typeof type === 'string' ? type : 'value'}>`;
}

function describe(field: SchemaField, schema: JsonObject): string {
  const { type, description, default: preset, format, minimum, maximum, minLength, maxLength } = schema;
  const { minItems, maxItems } = schema;
  const facts = [
    optionsOf(field) ?? foreignName(String(type ?? 'any')),
    ...Object.entries({ format, minimum, maximum, minLength, maxLength, minItems, maxItems, default: preset })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name} ${foreignJson(value)}`),
    field.required ? 'required' : 'optional',
  ];
  const about = [schema.title, description].filter((text) => typeof text === 'string').map(quoteForeign);
  return ` (${facts.join(', ')})${about.length > 0 ? `: ${about.join(' ')}` : ''}`;
}

/** The option values that the server expects, with their titles. */
function optionsOf(field: SchemaField): string | undefined {
  if (field.kind !== 'choice' && field.kind !== 'choices') return undefined;
  const options = field.options.map(({ value, title }) => {
    const said = title === String(value) ? '' : ` ${quoteForeign(title)}`;
    return `${foreignJson(value)}${said}`;
  });
  return `${field.kind === 'choice' ? 'one of' : 'a list of any of'} ${options.join(', ')}`;
}

function propertiesOf(schema: unknown): Record<string, JsonObject> {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => isObject(value))) as Record<
    string,
    JsonObject
  >;
}
