// Plays a tool over MCP Flow for a client that called it: each prompt becomes a question to the client, and the end of
// the session is the result of the call. Cancelling the call cancels the session. Options that are not text travel as text; what fits no form is
// asked for as JSON; files are asked only on our page.
import type { Exchange, Ask } from '../../../kernel/exchange.ts';
import type { Prompt } from '../../../kernel/form/prompt.ts';
import { isObject, present } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { ELICIT_INPUT, FLOW_CANCEL } from '../../../kernel/methods.ts';
import { cancelledBy } from '../../../kernel/base/cancelled-error.ts';
import { ProtocolError } from '../../../kernel/base/errors.ts';
import { rejectOnAbort } from '../../../kernel/base/timing.ts';
import { CANCEL, FlowRun } from '../../../mcp/flow/flow-run.ts';
import type { FlowOutcome, PromptContext } from '../../../mcp/flow/flow-run.ts';
import type { PromptInbox } from '../../../mcp/flow/prompt-inbox.ts';

export interface FlowToolSession {
  started: JsonObject;
  prompts: PromptInbox;
  /** With `isLast` it is sent even if the call was cancelled. */
  request: (method: string, params: JsonObject, isLast?: boolean) => Promise<JsonObject>;
}

const NAME = 'answer';
const LABEL = 'Your answer';
const PRIMITIVES = new Set<unknown>(['string', 'number', 'integer', 'boolean']);

export async function runFlowTool(exchange: Exchange, stage: FlowToolSession): Promise<JsonObject> {
  const { signal } = exchange;
  const playing = new FlowRun(stage, { onPrompt: (prompt, context) => askPrompt(exchange, prompt, context) });
  try {
    return toResult(await rejectOnAbort(playing.play(), signal, () => cancelledBy(signal)));
  } catch (thrown) {
    const { sessionId } = stage.started;
    await stage.request(FLOW_CANCEL, { sessionId, reason: 'The call was given up' }, true).catch(() => {}); // it may have ended
    if (!(thrown instanceof ProtocolError)) throw thrown;
    return { content: [{ type: 'text', text: thrown.message }], isError: true };
  }
}

async function askPrompt(
  exchange: Exchange,
  prompt: Prompt,
  { progress, problem, signal }: PromptContext,
): Promise<unknown> {
  if (progress) {
    const { current, total, message } = progress;
    exchange.progress({ progress: current, total, message });
  }
  const said = problem && [problem.error, problem.suggestion].filter(Boolean).join('. ');
  const answered = fromPromptAnswer(prompt, await exchange.ask(toPromptAsk(prompt, said), signal));
  return answered ? answered.value : CANCEL;
}

function toResult({ result: data, success, summary, error, cancelled }: FlowOutcome): JsonObject {
  if (cancelled) return { content: [{ type: 'text', text: 'The user did not want to answer' }], isError: true };
  return toCallResult({ result: { success, data, error }, summary });
}

/** The answer; undefined if the person does not want to answer. */
type PromptAnswer = { value: unknown } | undefined;

export function toPromptAsk(prompt: Prompt, problem: string | undefined): Ask {
  const message = [problem, prompt.message].filter(Boolean).join('\n');
  const params = { mode: 'form', message, requestedSchema: toSchema(prompt) };
  return { method: ELICIT_INPUT, params, ...(prompt.type === 'file' && { page: true }) };
}

/** Declining a yes-or-no question means no. */
export function fromPromptAnswer(prompt: Prompt, { action, content }: JsonObject): PromptAnswer {
  if (action === 'decline' && prompt.type === 'confirm') return { value: false };
  if (action !== 'accept') return undefined;
  const given = isObject(content) ? content : {};
  return { value: isFlatForm(prompt.schema) ? given : toValue(prompt, given[NAME]) };
}

function toSchema(prompt: Prompt): JsonObject {
  if (isFlatForm(prompt.schema)) return prompt.schema;
  const { validation = {}, defaultValue } = prompt;
  const property = { title: LABEL, ...present({ description: prompt.placeholder }), ...toProperty(prompt) };
  const isPlain = ['string', 'number', 'boolean'].includes(typeof defaultValue);
  return {
    type: 'object',
    properties: { [NAME]: { ...property, ...(isPlain && { default: toDefault(prompt) }) } },
    ...((validation.required === true || prompt.type === 'confirm') && { required: [NAME] }),
  };
}

function toProperty(prompt: Prompt): JsonObject {
  const { min, max, pattern, format, integer, accept, maxBytes } = prompt.validation ?? {};
  const options = optionsOf(prompt);
  switch (prompt.type) {
    case 'text':
      return present({ type: 'string', minLength: min, maxLength: max, pattern, format });
    case 'number':
      return present({ type: integer ? 'integer' : 'number', minimum: min, maximum: max });
    case 'confirm':
      return { type: 'boolean' };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'choice':
      return { type: 'string', oneOf: options };
    case 'file':
      return present({ type: 'object', 'x-parley': 'file', accept: accept?.join(','), maxBytes });
    default:
      return toCustom(prompt, options);
  }
}

function toCustom({ schema }: Prompt, options: JsonObject[]): JsonObject {
  if (options.length > 0) return { type: 'array', items: { anyOf: options } };
  if (schema && PRIMITIVES.has(schema.type)) return schema;
  return { type: 'string', description: 'As JSON' };
}

/** An object schema whose fields a client can show. */
function isFlatForm(schema: JsonObject | undefined): schema is JsonObject {
  if (schema?.type !== 'object' || !isObject(schema.properties)) return false;
  const fields = Object.values(schema.properties);
  return fields.length > 0 && fields.every((field) => isObject(field) && PRIMITIVES.has(field.type));
}

function optionsOf({ choices = [] }: Prompt): JsonObject[] {
  return choices.map(({ value, label }) => ({ const: toText(value), title: label }));
}

function toDefault({ choices, defaultValue }: Prompt): unknown {
  return choices ? toText(defaultValue) : defaultValue;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function toValue(prompt: Prompt, given: unknown): unknown {
  const { type, choices, schema } = prompt;
  if (choices) return Array.isArray(given) ? given.map((one) => toChosen(choices, one)) : toChosen(choices, given);
  if (type !== 'custom' || (schema && PRIMITIVES.has(schema.type)) || typeof given !== 'string') return given ?? null;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return given; // the server reports what is wrong
  }
}

function toChosen(choices: NonNullable<Prompt['choices']>, given: unknown): unknown {
  return choices.find(({ value }) => toText(value) === given)?.value ?? given ?? null;
}

/** The result of `tools/call`, from the params of `interaction.complete`. */
function toCallResult({ result, summary }: JsonObject): JsonObject {
  const { success, data, error } = isObject(result) ? result : {};
  if (success === false)
    return { content: [toTextBlock(summary ?? messageIn(error) ?? 'The tool failed')], isError: true };
  if (isObject(data) && Array.isArray(data.content)) return data;
  const structured = isObject(data) ? { structuredContent: data } : {};
  const text = summary ?? (typeof data === 'string' ? data : JSON.stringify(data ?? {}));
  return { content: [toTextBlock(text)], ...structured };
}

function toTextBlock(text: unknown): JsonObject {
  return { type: 'text', text: String(text) };
}

function messageIn(error: unknown): unknown {
  return isObject(error) ? error.message : error;
}
