// Lets a handler ask the client, through its exchange. The dialect decides how the requests are sent.
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitResult,
  Root,
} from '@modelcontextprotocol/client';
import type { Ask, Exchange } from '../protocol/exchange.ts';
import { isObject } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/message.ts';
import { toReason } from '../protocol/schema/schema-problem.ts';
import { cachedSchemaCheck } from '../protocol/schema/json-schema.ts';
import { GatewayError } from '../shared/errors.ts';
import { randomId } from '../shared/crypto/ids.ts';
import { toFormSchema } from './schema/form-schema.ts';
import type { Asker, FormAnswer } from './types.ts';
import { describeProblem } from '../protocol/form/answer-problem.ts';
import { checkField } from '../protocol/form/check-field.ts';
import { toSchemaFields } from '../protocol/form/schema-field.ts';

const KINDS: Record<Parameters<Asker['can']>[0], Ask> = {
  elicit: { method: 'elicitation/create', params: { mode: 'form' } },
  'elicit-url': { method: 'elicitation/create', params: { mode: 'url' } },
  sample: { method: 'sampling/createMessage', params: {} },
  'sample-tools': { method: 'sampling/createMessage', params: { tools: [] } },
  roots: { method: 'roots/list' },
};

export class ExchangeAsker implements Asker {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  can(kind: Parameters<Asker['can']>[0]): boolean {
    return this.#exchange.canAsk(KINDS[kind]);
  }

  async elicit(form: { message: string; schema: JsonObject; key?: string }): Promise<FormAnswer> {
    const requestedSchema = toFormSchema(form.schema);
    const params = { mode: 'form', message: form.message, requestedSchema };
    const answer = (await this.#ask('elicitation/create', params, form.key)) as ElicitResult;
    if (answer.action !== 'accept') return answer as FormAnswer;
    const { content = {} } = answer;
    checkAnswer(content, requestedSchema);
    return { ...answer, action: 'accept', content };
  }

  async elicitUrl(page: { message: string; url: string; key?: string; elicitationId?: string }): Promise<ElicitResult> {
    const { message, url, elicitationId = randomId() } = page;
    const params = { mode: 'url', message, url, elicitationId };
    return (await this.#ask('elicitation/create', params, page.key)) as ElicitResult;
  }

  async sample(
    request: CreateMessageRequestParams & { key?: string },
  ): Promise<CreateMessageResult | CreateMessageResultWithTools> {
    const { key, ...params } = request;
    return (await this.#ask('sampling/createMessage', params, key)) as CreateMessageResult;
  }

  async roots(options: { key?: string } = {}): Promise<Root[]> {
    const { roots } = await this.#ask('roots/list', undefined, options.key);
    return Array.isArray(roots) ? roots.filter(isFileRoot) : [];
  }

  async ping(): Promise<void> {
    await this.#ask('ping', undefined, undefined);
  }

  #ask(method: string, params: JsonObject | undefined, key: string | undefined): Promise<JsonObject> {
    return this.#exchange.ask({ method, ...(params && { params }), ...(key !== undefined && { key }) });
  }
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
