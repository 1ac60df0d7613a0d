// The second argument of a handler: a view of its exchange, and how the handler asks the client. It is created for every call and does
// nothing until it is used; it reads the signal only if the handler does.
import type {
  LoggingLevel,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitResult,
  Root,
} from '@modelcontextprotocol/client';
import type { ClientView, Exchange, TraceContext, Ask } from '../../kernel/exchange.ts';
import { describeProblem } from '../../kernel/form/answer-problem.ts';
import { checkField } from '../../kernel/form/check-field.ts';
import { toSchemaFields } from '../../kernel/form/schema-field.ts';
import { toReason, cachedSchemaCheck } from '../../kernel/json-schema.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { ELICIT_INPUT, LIST_ROOTS, PING_PEER, SAMPLE_MESSAGE } from '../../kernel/methods.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { droppable } from '../../kernel/base/stray-promises.ts';
import { randomId } from '../../kernel/crypto/ids.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { isStandardSchema, validateStandard } from '../../kernel/form/standard-schema.ts';
import { toJsonSchema } from './schema.ts';
import type { AnswerOf, Asker, Call, Schema } from './types.ts';

/** Default delay before a client should come back for an answer. */
const RETRY_MS = 500;

export class ExchangeCall implements Call {
  readonly #exchange: Exchange;
  readonly #onStatus: ((message: string) => void) | undefined;
  #asker: Asker | undefined;

  constructor(exchange: Exchange, onStatus?: (message: string) => void) {
    this.#exchange = exchange;
    this.#onStatus = onStatus;
  }

  get id(): string {
    return this.#exchange.id;
  }

  get client(): ClientView {
    return this.#exchange.client;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get meta(): JsonObject {
    const meta = this.#exchange.params['_meta'];
    return isObject(meta) ? meta : {};
  }

  get trace(): TraceContext | undefined {
    return this.#exchange.trace;
  }

  get ask(): Asker {
    return (this.#asker ??= new ExchangeAsker(this.#exchange));
  }

  progress(progress: number, total?: number, message?: string): void {
    this.#exchange.progress({ progress, total, message });
  }

  log(level: LoggingLevel, data: unknown, logger?: string): void {
    this.#exchange.log({ level, data, logger });
  }

  status(message: string): void {
    this.#onStatus?.(message);
  }

  notify(method: string, params?: JsonObject): void {
    this.#exchange.notify(method, params);
  }

  releaseStream(retryMs: number = RETRY_MS): void {
    this.#exchange.releaseStream(retryMs);
  }
}

const KINDS: Record<Parameters<Asker['can']>[0], Ask> = {
  elicit: { method: ELICIT_INPUT, params: { mode: 'form' } },
  'elicit-url': { method: ELICIT_INPUT, params: { mode: 'url' } },
  sample: { method: SAMPLE_MESSAGE, params: {} },
  'sample-tools': { method: SAMPLE_MESSAGE, params: { tools: [] } },
  roots: { method: LIST_ROOTS },
};

/** The dialect decides how the requests are sent. A request that the handler does not await ends no process when it fails. */
export class ExchangeAsker implements Asker {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  can(kind: Parameters<Asker['can']>[0]): boolean {
    return this.#exchange.canAsk(KINDS[kind]);
  }

  elicit<const S extends Schema>(form: { message: string; schema: S; key?: string }): Promise<AnswerOf<S>> {
    return droppable(this.#elicit(form));
  }

  elicitUrl(page: { message: string; url: string; key?: string; elicitationId?: string }): Promise<ElicitResult> {
    const { message, url, elicitationId = randomId() } = page;
    const params = { mode: 'url', message, url, elicitationId };
    return droppable(this.#ask(ELICIT_INPUT, params, page.key)) as Promise<ElicitResult>;
  }

  sample(
    request: CreateMessageRequestParams & { key?: string },
  ): Promise<CreateMessageResult | CreateMessageResultWithTools> {
    const { key, ...params } = request;
    return droppable(this.#ask(SAMPLE_MESSAGE, params, key)) as Promise<CreateMessageResult>;
  }

  roots(options: { key?: string } = {}): Promise<Root[]> {
    const listed = this.#ask(LIST_ROOTS, undefined, options.key);
    return droppable(listed.then(({ roots }) => (Array.isArray(roots) ? roots.filter(isFileRoot) : [])));
  }

  ping(): Promise<void> {
    return droppable(this.#ask(PING_PEER, undefined, undefined).then(() => {}));
  }

  async #elicit<const S extends Schema>(form: { message: string; schema: S; key?: string }): Promise<AnswerOf<S>> {
    const requestedSchema = toFormSchema(isStandardSchema(form.schema) ? toPlainForm(form.schema) : form.schema);
    const params = { mode: 'form', message: form.message, requestedSchema };
    const answer = (await this.#ask(ELICIT_INPUT, params, form.key)) as ElicitResult;
    if (answer.action !== 'accept') return answer as AnswerOf<S>;
    const { content = {} } = answer;
    checkAnswer(content, requestedSchema);
    const checked = isStandardSchema(form.schema) ? await requireValid(form.schema, content) : content;
    return { ...answer, action: 'accept', content: checked } as AnswerOf<S>;
  }

  async #ask(method: string, params: JsonObject | undefined, key: string | undefined): Promise<JsonObject> {
    return this.#exchange.ask({ method, ...(params && { params }), ...(key !== undefined && { key }) });
  }
}

/** What a library says beyond the fields of a form is left out: clients check forms strictly. A format says more to a user than its pattern. */
function toPlainForm(schema: StandardSchemaV1): JsonObject {
  const { type, properties, required } = toJsonSchema(schema, { side: 'input', option: 'the schema of a form' });
  if (type !== 'object' || !isObject(properties))
    throw new GatewayError('BAD_OPTION', { option: 'the schema of a form', reason: 'must describe an object' });
  const fields = Object.entries(properties).map(([name, field]) => {
    if (!isObject(field) || field['format'] === undefined) return [name, field] as const;
    const { pattern: _, ...rest } = field;
    return [name, rest] as const;
  });
  return { type, properties: Object.fromEntries(fields), ...(Array.isArray(required) && { required }) };
}

/** By all rules of the author's library, and as it transforms the answer. */
async function requireValid(schema: StandardSchemaV1, content: JsonObject): Promise<unknown> {
  const result = await validateStandard(schema, content);
  if (result.issues === undefined) return result.value;
  const reason = result.issues.map(({ path = [], message }) =>
    [path.map(keyOf).join('.'), message].filter(Boolean).join(': '),
  );
  throw new GatewayError('ANSWER_INVALID', { reason: reason.join('; ') });
}

function keyOf(segment: PropertyKey | { key: PropertyKey }): string {
  return String(typeof segment === 'object' ? segment.key : segment);
}

/**
 * Takes the properties, or a whole object schema. A form is flat, with primitives, single choices and multiple choices, as the protocol
 * allows. Fields that clients cannot show are refused, so that the author sees the error.
 */
export function toFormSchema(schema: JsonObject): JsonObject {
  const isWhole = schema['type'] === 'object' && isObject(schema['properties']);
  const form: JsonObject = isWhole ? schema : { type: 'object', properties: schema };
  for (const [name, field] of Object.entries(form['properties'] as JsonObject)) {
    const reason = toProblem(field);
    if (reason !== undefined) throw new GatewayError('BAD_OPTION', { option: `form field ${name}`, reason });
  }
  return form;
}

function toProblem(field: unknown): string | undefined {
  if (!isObject(field)) return 'must be a schema';
  switch (field['type']) {
    case 'string':
      return isChoice(field['enum'], field['oneOf']) ? undefined : 'a choice needs strings, or { const, title }';
    case 'number':
    case 'integer':
    case 'boolean':
      return undefined;
    case 'array':
      return isMultipleChoice(field['items']) ? undefined : 'an array must be a choice among strings';
    default:
      return 'must be a string, number, integer, boolean or a choice: forms are flat';
  }
}

function isMultipleChoice(items: unknown): boolean {
  if (!isObject(items)) return false;
  const { enum: words, anyOf: titled } = items as { enum?: unknown; anyOf?: unknown };
  return (words !== undefined || titled !== undefined) && isChoice(words, titled);
}

function isChoice(words: unknown, titled: unknown): boolean {
  const isTitled = (option: unknown) => isObject(option) && typeof option['const'] === 'string';
  return (
    (words === undefined || (Array.isArray(words) && words.every((word) => typeof word === 'string'))) &&
    (titled === undefined || (Array.isArray(titled) && titled.every(isTitled)))
  );
}

/** Clients may let users type anything, so the answer is checked against the form, by the rules of every channel. */
function checkAnswer(content: JsonObject, form: JsonObject): void {
  const { problems } = cachedSchemaCheck(withoutPatterns(form), 'form')(content);
  if (problems) throw new GatewayError('ANSWER_INVALID', { reason: toReason(problems) });
  for (const field of toSchemaFields(form)) {
    // Whether a client may leave a required text empty is for `minLength` to say.
    const checked = content[field.name] === '' ? undefined : checkField(field, content[field.name]);
    if (!checked || 'value' in checked) continue;
    const reason = `${field.name}: ${describeProblem(checked)}`;
    throw new GatewayError('ANSWER_INVALID', { reason });
  }
}

/** The JSON Schema check runs patterns without a time limit. */
function withoutPatterns(form: JsonObject): JsonObject {
  const properties = Object.entries(form['properties'] as Record<string, JsonObject>).map(
    ([name, { pattern, ...field }]) => [name, field] as const,
  );
  return { ...form, properties: Object.fromEntries(properties) };
}

/** The protocol has only file roots; a handler must not be led to fetch anything else. */
function isFileRoot(root: unknown): root is Root {
  return isObject(root) && typeof root['uri'] === 'string' && root['uri'].startsWith('file://');
}
