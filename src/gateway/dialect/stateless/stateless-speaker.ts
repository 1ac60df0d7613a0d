// Speaks to a server of the stateless era: every request carries its envelope and headers, questions come as results and are
// answered by asking again, changes come on a stream that we open.
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client';
import type { JsonObject, NotificationMessage, RequestMessage } from '../../../protocol/message.ts';
import { isObject, toNotification } from '../../../protocol/message.ts';
import type { OutgoingCall, ServerEvents, ServerView } from '../../../protocol/server-view.ts';
import type { TaskState } from '../../../protocol/target.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import { META, TASKS_EXTENSION } from '../meta.ts';
import type { Speaker, Wire } from '../speaker.ts';
import { answerQuestions } from './answer-questions.ts';
import { toHeaders } from './outgoing-headers.ts';
import { ToolSchemas } from './tool-schemas.ts';
import { Watch } from './watch.ts';

export interface StatelessIdentity {
  info: Implementation;
  capabilities: ClientCapabilities;
}

/** Questions a single call may ask before it is given up. */
const MAX_ROUNDS = 10;

export class StatelessSpeaker implements Speaker {
  readonly server: ServerView;
  readonly wire: Wire;
  readonly #identity: StatelessIdentity;
  readonly #events: ServerEvents;
  readonly #schemas = new ToolSchemas();
  readonly #watch: Watch;
  #logLevel: string | undefined;

  constructor(wire: Wire, server: ServerView, identity: StatelessIdentity, events: ServerEvents) {
    this.wire = wire;
    this.server = server;
    this.#identity = identity;
    this.#events = events;
    this.#watch = new Watch(this, events);
  }

  async call(call: OutgoingCall): Promise<JsonObject> {
    if (call.method === 'ping') return this.#ping(call);
    let params = call.params ?? {};
    for (let round = 0; round <= MAX_ROUNDS; round++) {
      const result = await this.#once({ ...call, params });
      if (result.resultType !== 'input_required') return this.#toNeutral(call.method, result);
      const release = this.wire.hold();
      try {
        params = await answerQuestions(call, result, this.#events);
      } finally {
        release();
      }
    }
    throw this.invalid(`${call.method} asked more than ${MAX_ROUNDS} times`);
  }

  /** The envelope of a request, for the speaker's own calls and those of its watch. */
  envelope(call: Pick<OutgoingCall, 'params' | 'trace'>, token?: number): JsonObject {
    const { params, trace } = call;
    return {
      ...params,
      _meta: {
        ...(isObject(params?._meta) ? params._meta : undefined),
        ...trace,
        ...toEnvelope(this.server.revision, this.#identity),
        ...(this.#logLevel !== undefined && { [META.logLevel]: this.#logLevel }),
        ...(token !== undefined && { progressToken: token }),
      },
    };
  }

  /** The era knows no requests from servers: refused so that a confused server learns of it. */
  onRequest(request: RequestMessage): void {
    const error = { code: -32601, message: 'Method not found', data: `Unknown method: ${request.method}` };
    void this.wire.respond({ jsonrpc: '2.0', id: request.id, error }).catch(() => {}); // the server is gone: nobody waits
  }

  onNotification(notification: NotificationMessage): void {
    this.#watch.onNotification(notification);
  }

  /** Only cancellation exists, and the wire does that. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    if (method.startsWith('notifications/')) return;
    await this.wire.notify(toNotification(method, params));
  }

  watch(): void {
    this.#watch.changes();
  }

  subscribe(uri: string): Promise<void> {
    return this.#watch.add(uri);
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#watch.remove(uri);
  }

  async setLogLevel(level: string): Promise<void> {
    this.#logLevel = level;
  }

  async leave(): Promise<void> {
    this.#watch.stop();
  }

  invalid(reason: string): GatewayError {
    return new GatewayError('UPSTREAM_INVALID', { server: this.wire.name, reason });
  }

  /** The era has no ping; discovery is the request that every server answers. */
  async #ping(call: OutgoingCall): Promise<JsonObject> {
    await this.#send({ ...call, method: 'server/discover' });
    return {};
  }

  /** One request. A header mismatch means that our picture of the tools is old: look again and try once more. */
  async #once(call: OutgoingCall): Promise<JsonObject> {
    try {
      return await this.#send(call);
    } catch (thrown) {
      const stale = thrown instanceof ProtocolError && thrown.code === -32020 && call.method === 'tools/call';
      if (!stale || !this.wire.http) throw thrown;
      await this.call({ method: 'tools/list' });
      return this.#send(call);
    }
  }

  async #send(call: OutgoingCall): Promise<JsonObject> {
    const { method, onProgress } = call;
    const params = this.envelope(call);
    const result = await this.wire.call({
      ...call,
      params,
      headers: this.wire.http ? toHeaders(method, params, this.server.revision, this.#schemas) : undefined,
      withToken: onProgress && ((token) => this.envelope(call, token)),
      cancelByStream: true,
      onNotify: (notification) => this.#onRelated(notification, call),
    });
    if (isObject(result)) return result;
    throw this.invalid(`${method} answered without a result object`);
  }

  #onRelated(notification: NotificationMessage, call: OutgoingCall): void {
    if (notification.method === 'notifications/message') this.#watch.onNotification(notification);
    else call.onNotify?.(notification);
  }

  #toNeutral(method: string, result: JsonObject): JsonObject {
    const { resultType = 'complete', ...rest } = result;
    if (resultType === 'task') return { task: rest as unknown };
    if (resultType !== 'complete') throw this.invalid(`unknown resultType ${String(resultType)}`);
    if (method === 'tools/list') return this.#schemas.learn(rest, this.wire.http);
    return rest;
  }
}

export function toEnvelope(revision: string, { info, capabilities }: StatelessIdentity): JsonObject {
  return {
    [META.protocolVersion]: revision,
    [META.clientInfo]: info,
    [META.clientCapabilities]: capabilities,
  };
}

/** Capabilities to declare when tasks are followed. */
export function withTasks(capabilities: ClientCapabilities): ClientCapabilities {
  return { ...capabilities, extensions: { ...capabilities.extensions, [TASKS_EXTENSION]: {} } };
}
