// Runs interactive tools of a server for a person, as the Flow specification advises: checks first whether the server is interactive, asks
// again after a refused answer, starts over if the session is gone, and retries with growing pauses while the server is busy or away. For
// other tools it asks for all required arguments first and calls the tool with them.
import { randomUUID } from 'node:crypto';
import type { Client } from '../../client/client.ts';
import { connect } from '../../client/connect.ts';
import type { ConnectOptions } from '../../client/types.ts';
import { FlowRun } from '../../gateway/flow/play/flow-run.ts';
import type { FlowOutcome } from '../../gateway/flow/play/flow-run.ts';
import { NOTICES, PromptInbox } from '../../gateway/flow/play/prompt-inbox.ts';
import type { Address } from '../../gateway/upstream/address.ts';
import { START_ID, takesStartIds } from '../../protocol/interaction.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { ProtocolError } from '../../shared/errors.ts';
import { precheck } from './precheck.ts';
import { retryRequest } from './retry-request.ts';
import { collectArguments } from './collect-arguments.ts';
import type { PromptHandlers } from '../../gateway/flow/play/flow-run.ts';

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
const SESSION_METHODS = ['interaction.prompt', 'interaction.continue', 'interaction.complete'];
const GONE = new Set([-32001, -32002]);
const NOT_INTERACTIVE = -32007;
const MAX_RESTARTS = 3;

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
    this.#isInteractive ??= this.#request('capabilities').then(
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
    if (!(await this.isInteractive())) return this.#call(tool, params, options);
    for (let restarts = 0; ; restarts++) {
      try {
        return await this.#play(tool, params, options);
      } catch (thrown) {
        const code = thrown instanceof ProtocolError ? thrown.code : undefined;
        if (code === NOT_INTERACTIVE) return this.#call(tool, params, options);
        if (code === undefined || !GONE.has(code) || restarts >= MAX_RESTARTS) {
          options.onFeedback?.(thrown instanceof Error ? thrown.message : String(thrown));
          throw thrown;
        }
        options.onFeedback?.('The session has expired; it starts over.');
      }
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
    const about = { ...(context && { context }), ...(timeout !== undefined && { timeout }) };
    const request = (method: string, more: JsonObject) => this.#request(method, more, options);
    const start = { toolName: tool, initialParams, ...about, _meta: { [START_ID]: randomUUID() } };
    const started = await request('interaction.start', start);
    const sessionId = String(started.sessionId);
    const prompts = this.#told.promptsOf({ sessionId });
    try {
      const lost = () => this.#client.closed;
      return await new FlowRun({ started, prompts, request, lost }, withPrecheck(options)).play();
    } finally {
      this.#told.forget(sessionId);
    }
  }

  #request(method: string, params: JsonObject = {}, { onFeedback }: Partial<PlayOptions> = {}): Promise<JsonObject> {
    return retryRequest(async () => (await this.#connected()).request(method, params), {
      attempts: this.#options.attempts ?? 5,
      backoffMs: this.#options.backoffMs ?? 250,
      isRepeatable: isRepeatable(method, params, this.#client),
      onFeedback,
    });
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

/**
 * A repeated answer to a named prompt counts once, and so does a repeated start if the server knows start ids. Without them, a start with
 * arguments may have run to the end already.
 */
function isRepeatable(method: string, { promptId, initialParams }: JsonObject, { server }: Client): boolean {
  if (method === 'interaction.respond') return promptId !== undefined;
  if (method !== 'interaction.start' || takesStartIds(server.capabilities)) return true;
  return Object.keys(initialParams ?? {}).length === 0;
}

/** Checks answers before they are sent. */
function withPrecheck(options: PlayOptions): PlayOptions {
  return {
    ...options,
    onPrompt: (prompt, context) =>
      precheck(prompt, options, (problem) => options.onPrompt(prompt, { ...context, problem }), context.problem),
  };
}
