// Runs interactive tools of a server for a person, as the Flow specification advises: checks first whether the server is interactive, asks
// again after a refused answer, starts over if the session is gone, and retries with growing pauses while the server is busy or away. For
// other tools it asks for all required arguments first and calls the tool with them.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../sdk/client/client.ts';
import { connect } from '../../sdk/client/connect.ts';
import type { ConnectOptions } from '../../sdk/client/types.ts';
import { FlowRun, CANCEL, DECLINE, describeRefusal } from '../../mcp/flow/flow-run.ts';
import type { FlowOutcome, PromptContext, PromptHandlers } from '../../mcp/flow/flow-run.ts';
import { NOTICES, PromptInbox } from '../../mcp/flow/prompt-inbox.ts';
import type { Address } from '../../mcp/connect/address.ts';
import type { Prompt, Choice, Validation } from '../../kernel/form/prompt.ts';
import { START_ID, isNotInteractive, takesStartIds } from '../../kernel/interaction.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import {
  FLOW_COMPLETE,
  FLOW_CONTINUE,
  FLOW_PROMPT,
  FLOW_RESPOND,
  FLOW_START,
  TELL_CAPABILITIES,
} from '../../kernel/methods.ts';
import { toSafeCallback } from '../../kernel/base/author-callback.ts';
import { ProtocolError, GatewayError, messageOf } from '../../kernel/base/errors.ts';
import { toSafeLog } from '../../kernel/base/log.ts';
import { checkAnswer } from '../question/check-answer.ts';
import type { Complaint } from '../question/question.ts';

export interface PlayOptions extends PromptHandlers {
  context?: JsonObject | undefined;
  timeout?: number | undefined;
}

export interface FlowClientOptions extends ConnectOptions {
  /** False: do not check first whether the server is interactive. */
  discover?: boolean;
  /** How many tries for a busy server, and how long the first pause is. */
  attempts?: number;
  backoffMs?: number;
}

/** Requests of the server about a session. */
const SESSION_METHODS = [FLOW_PROMPT, FLOW_CONTINUE, FLOW_COMPLETE];
const GONE = new Set([-32001, -32002]);
const MAX_RESTARTS = 3;
const BUSY = -32000;
const AWAY = new Set(['UPSTREAM_CLOSED', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED']);
const MAX_PRECHECKS = 3;

/**
 * A client that plays interactive tools question by question, over MCP Flow.
 *
 * @example
 * ```ts
 * import { connectFlows } from 'mcp-parley/flow';
 *
 * const client = await connectFlows('http://127.0.0.1:8471/mcp');
 * const outcome = await client.run('trip', {}, { onPrompt: (prompt) => (prompt.type === 'confirm' ? true : 'Oslo') });
 * console.log(outcome);
 * await client.close();
 * ```
 */
export async function connectFlows(address: Address, options: FlowClientOptions = {}): Promise<FlowClient> {
  const sessions = new Map<string, PromptInbox>();
  const promptsOf = ({ sessionId }: JsonObject): PromptInbox => {
    const id = String(sessionId);
    let prompts = sessions.get(id);
    if (!prompts) sessions.set(id, (prompts = new PromptInbox()));
    return prompts;
  };
  const requests = Object.fromEntries(
    SESSION_METHODS.map((method) => [method, (params: JsonObject) => promptsOf(params).hear(method, params)]),
  );
  const open = async () => {
    const client = await connect(address, { ...options, requests: { ...options.requests, ...requests } });
    client.on('notification', ({ method, params = {} }) => {
      if (NOTICES.has(method)) sessions.get(String(params.sessionId))?.hear(method, params);
    });
    return client;
  };
  return new FlowClient(await open(), options, { open, promptsOf, forget: (id) => void sessions.delete(id) });
}

interface SessionPrompts {
  open(): Promise<Client>;
  promptsOf(params: { sessionId: string }): PromptInbox;
  forget(sessionId: string): void;
}

export class FlowClient {
  readonly #options: FlowClientOptions;
  readonly #told: SessionPrompts;
  #client: Client;
  #isGone = false;
  #isClosed = false;
  #isInteractive: Promise<boolean> | undefined;

  constructor(client: Client, options: FlowClientOptions, told: SessionPrompts) {
    this.#options = options;
    this.#told = told;
    this.#client = this.#followed(client);
  }

  /** The current connection; it changes after the server was away. */
  get client(): Client {
    return this.#client;
  }

  /** Whether the server speaks MCP Flow. */
  isInteractive(): Promise<boolean> {
    if (this.#options.discover === false) return Promise.resolve(true);
    this.#isInteractive ??= this.#request(TELL_CAPABILITIES).then(
      ({ interactive }) => interactive === true,
      (thrown: unknown) => {
        if (thrown instanceof ProtocolError) return false;
        this.#isInteractive = undefined; // ask again next time
        throw thrown;
      },
    );
    return this.#isInteractive;
  }

  /** Runs the tool; `onPrompt` answers its questions. */
  async run(tool: string, params: JsonObject, options: PlayOptions): Promise<FlowOutcome> {
    const { onFeedback } = options;
    const log = toSafeLog(this.#options.log);
    return this.#run(tool, params, {
      ...options,
      onFeedback: onFeedback && toSafeCallback(onFeedback, 'onFeedback', log),
    });
  }

  async #run(tool: string, params: JsonObject, options: PlayOptions): Promise<FlowOutcome> {
    if (!(await this.isInteractive())) return this.#call(tool, params, options);
    for (let restarts = 0; ; restarts++) {
      const person = new NotedAnswers(options);
      try {
        const outcome = await this.#play(tool, params, person.options);
        // A user who has not answered at all is asked once more.
        if (!hasExpired(outcome) || restarts >= (person.hasAnswered ? MAX_RESTARTS : 1)) return outcome;
      } catch (thrown) {
        if (isNotInteractive(thrown)) return this.#call(tool, params, options);
        const code = thrown instanceof ProtocolError ? thrown.code : undefined;
        if (code === undefined || !GONE.has(code) || restarts >= MAX_RESTARTS) {
          options.onFeedback?.(messageOf(thrown));
          throw thrown;
        }
      }
      options.onFeedback?.('The session has expired; it starts over.');
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #play(tool: string, initialParams: JsonObject, options: PlayOptions): Promise<FlowOutcome> {
    const { context, timeout } = options;
    const more = { ...(context && { context }), ...(timeout !== undefined && { timeout }) };
    const request = (method: string, params: JsonObject) => this.#request(method, params, options);
    const start = { toolName: tool, initialParams, ...more, _meta: { [START_ID]: randomUUID() } };
    const started = await request(FLOW_START, start);
    const sessionId = String(started.sessionId);
    const prompts = this.#told.promptsOf({ sessionId });
    try {
      const lost = () => this.#client.closed;
      const onPrompt: PlayOptions['onPrompt'] = (prompt, asked) => prechecked(prompt, asked, options);
      return await new FlowRun({ started, prompts, request, lost }, { ...options, onPrompt }).play();
    } finally {
      this.#told.forget(sessionId);
    }
  }

  /**
   * Repeats a request to a busy or absent server a few times, with growing pauses. A request that may have arrived is repeated only if that
   * does no harm.
   */
  async #request(
    method: string,
    params: JsonObject = {},
    { onFeedback }: Partial<PlayOptions> = {},
  ): Promise<JsonObject> {
    const { attempts = 5, backoffMs = 250 } = this.#options;
    const canRepeat = isRepeatable(method, params, this.#client);
    for (let attempt = 1; ; attempt++) {
      try {
        return await (await this.#connected()).request(method, params);
      } catch (thrown) {
        if (attempt >= attempts || !isPassing(thrown, canRepeat)) throw thrown;
        onFeedback?.(`${thrown.message}; it is tried again.`);
        await sleep(Math.max(thrown.retryAfterMs ?? 0, backoffMs * 2 ** (attempt - 1)));
      }
    }
  }

  async #call(tool: string, given: JsonObject, options: PlayOptions): Promise<FlowOutcome> {
    const known = (await this.client.listTools()).find(({ name }) => name === tool);
    const params = known ? await collectArguments(known.inputSchema, given, options) : given;
    if (!params) return { result: undefined, success: false, interactive: false, cancelled: true };
    const result = await this.client.callTool(tool, params);
    return { result: result.structuredContent ?? result.content, success: result.isError !== true, interactive: false };
  }

  async #connected(): Promise<Client> {
    if (this.#isGone && !this.#isClosed) this.#client = this.#followed(await this.#told.open());
    return this.#client;
  }

  #followed(client: Client): Client {
    this.#isGone = false;
    void client.closed.then(() => {
      if (this.#client === client) this.#isGone = true;
    });
    return client;
  }
}

/** Whether the user has answered anything in one session. */
class NotedAnswers {
  readonly options: PlayOptions;
  hasAnswered = false;

  constructor(options: PlayOptions) {
    const onPrompt: PlayOptions['onPrompt'] = async (prompt, context) => {
      const value = await options.onPrompt(prompt, context);
      this.hasAnswered ||= context.signal?.aborted !== true;
      return value;
    };
    this.options = { ...options, onPrompt };
  }
}

/** A server that can send messages reports the end of a session before it is answered. */
function hasExpired({ success, error }: FlowOutcome): boolean {
  return !success && isObject(error) && error.name === 'FLOW_SESSION_EXPIRED';
}

/**
 * A repeated answer to a named prompt counts once, and so does a repeated start if the server knows start ids. Without them, a start with
 * arguments may have run to the end already.
 */
function isRepeatable(method: string, { promptId, initialParams }: JsonObject, { server }: Client): boolean {
  if (method === FLOW_RESPOND) return promptId !== undefined;
  if (method !== FLOW_START || takesStartIds(server.capabilities)) return true;
  return Object.keys(initialParams ?? {}).length === 0;
}

function isPassing(thrown: unknown, canRepeat: boolean): thrown is GatewayError | ProtocolError {
  if (thrown instanceof ProtocolError) return thrown.code === BUSY || (canRepeat && hasStopped(thrown));
  if (!(thrown instanceof GatewayError)) return false;
  return thrown.code === 'UPSTREAM_BUSY' || (canRepeat && AWAY.has(thrown.code));
}

/** `GATEWAY_STOPPED`: the server was restarted while it handled the request. */
function hasStopped({ data }: ProtocolError): boolean {
  return isObject(data) && data['stopped'] === true;
}

/**
 * Checks an answer by the rules of its prompt before it is sent, so that the user sees mistakes at once. The server decides in the end; after a
 * few tries a wrong answer is sent anyway.
 */
async function prechecked(prompt: Prompt, context: PromptContext, person: PromptHandlers): Promise<unknown> {
  let value = await person.onPrompt(prompt, context);
  for (let tries = 1; tries < MAX_PRECHECKS && value !== CANCEL && value !== DECLINE; tries++) {
    const problem = problemOf(prompt, value);
    if (!problem) return value;
    person.onFeedback?.(describeRefusal(problem));
    value = await person.onPrompt(prompt, { ...context, problem });
  }
  return value;
}

/** If the prompt itself is invalid, the server decides. */
function problemOf(prompt: Prompt, value: unknown): Complaint | undefined {
  try {
    const checked = checkAnswer(value, { kind: prompt.type, prompt });
    return 'complaint' in checked ? checked.complaint : undefined;
  } catch {
    return undefined;
  }
}

/**
 * For tools that are not interactive: asks for the missing required arguments one by one, with questions made from the input schema. Undefined if
 * the user cancels.
 */
async function collectArguments(
  schema: JsonObject,
  given: JsonObject,
  options: PlayOptions,
): Promise<JsonObject | undefined> {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const missing = required.filter((name) => given[name] === undefined);
  const params = { ...given };
  for (const [index, name] of missing.entries()) {
    const prompt = toPrompt(name, isObject(properties[name]) ? properties[name] : {});
    const progress = { current: index + 1, total: missing.length };
    const value = await prechecked(prompt, { progress }, options);
    if (value === CANCEL || value === DECLINE) return undefined; // the tool cannot do without it
    params[name] = value;
  }
  return params;
}

function toPrompt(name: string, schema: JsonObject): Prompt {
  const { title, description, default: defaultValue } = schema;
  const message = String(title ?? description ?? name);
  const validation = { required: true, ...rulesOf(schema) };
  return { ...kindOf(schema), message, ...(defaultValue !== undefined && { defaultValue }), validation };
}

function kindOf(schema: JsonObject): Pick<Prompt, 'type' | 'choices' | 'schema'> {
  const choices = choicesOf(schema);
  if (choices) return { type: 'choice', choices };
  switch (schema.type) {
    case 'boolean':
      return { type: 'confirm' };
    case 'number':
    case 'integer':
      return { type: 'number' };
    case 'string':
      return { type: schema.format === 'date' ? 'date' : 'text' };
    default:
      return { type: 'custom', schema };
  }
}

function choicesOf({ enum: values, oneOf }: JsonObject): Choice[] | undefined {
  if (Array.isArray(values)) return values.map((value) => ({ value, label: String(value) }));
  if (!Array.isArray(oneOf) || !oneOf.every((one) => isObject(one) && 'const' in one)) return undefined;
  return (oneOf as JsonObject[]).map(({ const: value, title }) => ({ value, label: String(title ?? value) }));
}

function rulesOf({ type, minLength, maxLength, minimum, maximum, pattern }: JsonObject): Validation {
  const [min, max] = type === 'string' ? [minLength, maxLength] : [minimum, maximum];
  return {
    ...(typeof min === 'number' && { min }),
    ...(typeof max === 'number' && { max }),
    ...(typeof pattern === 'string' && { pattern }),
    ...(type === 'integer' && { integer: true }),
  };
}
