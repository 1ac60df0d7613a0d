// Plays interactive tools of a server for a person. It follows the advice of the Flow document: it asks first whether the server is
// interactive, asks again after a refused answer, begins anew when a session has expired, tries again with growing pauses when the
// server is busy, and tells what went wrong. Where the server is not interactive the tool is called with all that was given.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import { connect } from '../../client/connect.ts';
import type { ConnectOptions } from '../../client/types.ts';
import type { Address } from '../../gateway/upstream/address.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { ProtocolError } from '../../shared/errors.ts';
import { Playing } from './playing.ts';
import type { PlayOptions } from './playing.ts';
import { Prompts } from './prompts.ts';

export interface FlowClientOptions extends ConnectOptions {
  /** False: it is not asked first whether the server is interactive. */
  discover?: boolean;
  /** How often a busy server is tried, and how long the first pause is. */
  attempts?: number;
  backoffMs?: number;
}

export interface FlowOutcome {
  /** The tool's own result. */
  result: unknown;
  success: boolean;
  summary?: string | undefined;
  /** False where the server is not interactive and the tool was just called. */
  interactive: boolean;
  /** True when the person did not want to go on. */
  cancelled?: boolean | undefined;
}

const BUSY = -32000;
const EXPIRED = -32002;
const MAX_RESTARTS = 3;

export async function connectFlows(address: Address, options: FlowClientOptions = {}): Promise<FlowClient> {
  const sessions = new Map<string, Prompts>();
  const promptsOf = ({ sessionId }: JsonObject): Prompts => {
    const id = String(sessionId);
    let prompts = sessions.get(id);
    if (!prompts) sessions.set(id, (prompts = new Prompts()));
    return prompts;
  };
  const requests = {
    'interaction.prompt': (params: JsonObject) => {
      promptsOf(params).tell({ kind: 'prompt', prompt: params.prompt, progress: params.progress } as never);
      return { acknowledged: true };
    },
    'interaction.continue': (params: JsonObject) => {
      const { nextPrompt: prompt, progress } = params;
      if (isObject(prompt)) promptsOf(params).tell({ kind: 'prompt', prompt, progress } as never);
      return { acknowledged: true };
    },
    'interaction.complete': (params: JsonObject) => {
      const result = isObject(params.result) ? params.result : {};
      promptsOf(params).tell({ kind: 'end', result, summary: params.summary as string | undefined });
      return { success: true, finalResult: isObject(result.data) ? result.data : {} };
    },
  };
  const client = await connect(address, { ...options, requests: { ...options.requests, ...requests } });
  return new FlowClient(client, options, { promptsOf, forget: (id) => void sessions.delete(id) });
}

interface Told {
  promptsOf(params: { sessionId: string }): Prompts;
  forget(sessionId: string): void;
}

export class FlowClient {
  readonly client: Client;
  readonly #options: FlowClientOptions;
  readonly #told: Told;
  #isInteractive: Promise<boolean> | undefined;

  constructor(client: Client, options: FlowClientOptions, told: Told) {
    this.client = client;
    this.#options = options;
    this.#told = told;
  }

  /** Whether the server plays tools over MCP Flow. */
  isInteractive(): Promise<boolean> {
    if (this.#options.discover === false) return Promise.resolve(true);
    this.#isInteractive ??= this.client.request('capabilities').then(
      ({ interactive }) => interactive === true,
      (thrown: unknown) => {
        if (thrown instanceof ProtocolError) return false;
        throw thrown;
      },
    );
    return this.#isInteractive;
  }

  /** Runs the tool; `onPrompt` answers its questions. */
  async run(tool: string, params: JsonObject, options: PlayOptions): Promise<FlowOutcome> {
    if (!(await this.isInteractive())) return this.#call(tool, params);
    for (let restarts = 0; ; restarts++) {
      try {
        return await this.#play(tool, params, options);
      } catch (thrown) {
        const isExpired = thrown instanceof ProtocolError && thrown.code === EXPIRED;
        if (!isExpired || restarts >= MAX_RESTARTS) throw thrown;
        options.onFeedback?.('The session has expired; it begins anew.');
      }
    }
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #play(tool: string, initialParams: JsonObject, options: PlayOptions): Promise<FlowOutcome> {
    const { context, timeout } = options;
    const about = { ...(context && { context }), ...(timeout !== undefined && { timeout }) };
    const started = await this.#patiently(
      () => this.client.request('interaction.start', { toolName: tool, initialParams, ...about }),
      options,
    );
    const sessionId = String(started.sessionId);
    const prompts = this.#told.promptsOf({ sessionId });
    const request = (method: string, params: JsonObject) =>
      this.#patiently(() => this.client.request(method, params), options);
    try {
      return await new Playing({ started, prompts, request }, options).play();
    } finally {
      this.#told.forget(sessionId);
    }
  }

  async #call(tool: string, params: JsonObject): Promise<FlowOutcome> {
    const result = await this.client.callTool(tool, params);
    return { result: result.structuredContent ?? result.content, success: result.isError !== true, interactive: false };
  }

  async #patiently(request: () => Promise<JsonObject>, { onFeedback }: PlayOptions): Promise<JsonObject> {
    const { attempts = 5, backoffMs = 250 } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await request();
      } catch (thrown) {
        const isBusy = thrown instanceof ProtocolError && thrown.code === BUSY;
        if (!isBusy || attempt >= attempts) throw thrown;
        onFeedback?.(`${thrown.message}; it is tried again.`);
        await sleep(Math.max(thrown.retryAfterMs ?? 0, backoffMs * 2 ** (attempt - 1)));
      }
    }
  }
}
