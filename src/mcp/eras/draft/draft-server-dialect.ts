// Talks to servers of the `draft` dialect: tools are invoked, lists are bare arrays, and change notifications carry the
// difference.
import { isObject, toErrorMessage, toNotification, toResult } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage, RequestId, RequestMessage } from '../../../kernel/message.ts';
import type { OutgoingCall, ServerEvents, ServerView } from '../../../kernel/server-view.ts';
import { isInteraction } from '../../../kernel/interaction.ts';
import { dictionary } from '../../../kernel/containers/dictionary.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { answerAsk } from '../ask.ts';
import { readProgress } from '../notifications.ts';
import { plainError } from '../plain-error.ts';
import { sendRequest } from '../speak/send-again.ts';
import type { Remedy } from '../speak/remedy.ts';
import type { ServerDialect, ServerProgress, Wire } from '../speak/server-dialect.ts';
import { toWireRequest } from '../speak/wire-request.ts';
import { fromInvocation } from './invocation.ts';

const LISTS: Record<string, string> = dictionary({ 'tools/list': 'tools', 'resources/list': 'resources' });
const PASSED = new Set(['tools/invoke', 'ping', 'capabilities']);

export class DraftServerDialect implements ServerDialect {
  readonly server: ServerView;
  readonly #wire: Wire;
  readonly #events: ServerEvents;

  constructor(wire: Wire, server: ServerView, events: ServerEvents) {
    this.#wire = wire;
    this.server = server;
    this.#events = events;
  }

  async call(call: OutgoingCall, remedy?: Remedy): Promise<JsonObject> {
    const { method } = call;
    const encoded = method === 'tools/call' ? 'tools/invoke' : method;
    if (!LISTS[method] && !PASSED.has(encoded) && !isInteraction(method)) {
      throw new GatewayError('NOT_SUPPORTED', { server: this.#wire.name, what: method });
    }
    const cancelNotice = (id: RequestId): NotificationMessage => toNotification('cancel', { id });
    const request = toWireRequest(call, { method: encoded, cancelNotice }, remedy);
    const result = await sendRequest(this.#wire, request);
    const key = LISTS[method];
    if (key) return { [key]: Array.isArray(result) ? result : ((isObject(result) && result[key]) ?? []) };
    if (method === 'tools/call') return fromInvocation(result);
    return isObject(result) ? result : {};
  }

  /** Answers pings and the questions of interactive tools; the dialect has no others. */
  onRequest(request: RequestMessage): void {
    if (isInteraction(request.method)) return this.#interact(request);
    const unknown = new GatewayError('METHOD_NOT_FOUND', { method: request.method });
    const ping = request.method === 'ping';
    const response = ping ? toResult(request.id, {}) : toErrorMessage(request.id, plainError(unknown));
    void this.#wire.respond(response).catch(() => {}); // the server is gone: nobody waits
  }

  onNotification({ method, params = {} }: NotificationMessage): void {
    if (method === 'tools/changed') {
      const { added: told, removed: gone } = params;
      const added = (Array.isArray(told) ? told : []).filter(isNamed);
      const removed = Array.isArray(gone) ? gone.filter((name) => typeof name === 'string') : [];
      this.#events.onChange({ kind: 'tools', added, removed, isClaimed: true });
    } else if (method === 'resources/changed' && Array.isArray(params.updated)) {
      for (const name of params.updated)
        this.#events.onChange({ kind: 'resource', uri: String(name), name: String(name) });
    } else if (isInteraction(method)) this.#events.onNotice?.({ jsonrpc: '2.0', method, params });
  }

  readProgress({ method, params = {} }: NotificationMessage): ServerProgress | undefined {
    if (method !== 'progress') return undefined;
    const { id, percent, message } = params;
    return { token: id, progress: readProgress({ progress: percent, total: 100, message }) };
  }

  /** Waits for no person, so no call's timeout is paused. */
  #interact(request: RequestMessage): void {
    void answerAsk(request, this.#events, new AbortController().signal)
      .then((response) => this.#wire.respond(response))
      .catch(() => {}); // the server is gone: nobody waits
  }

  /** MCP notifications have no meaning in this dialect. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    if (method.startsWith('notifications/')) return;
    await this.#wire.notify(toNotification(method, params));
  }

  watch(): void {}

  subscribe(): Promise<JsonObject> {
    return Promise.resolve({}); // a draft server notifies every client
  }

  unsubscribe(): Promise<JsonObject> {
    return Promise.resolve({});
  }

  setLogLevel(): Promise<void> {
    return Promise.reject(new GatewayError('NOT_SUPPORTED', { server: this.#wire.name, what: 'logging' }));
  }

  async leave(): Promise<void> {
    await this.#wire.call({ method: 'shutdown', timeoutMs: 1000 }).catch(() => {}); // leaving anyway
    await this.#wire.notify(toNotification('exit')).catch(() => {});
  }
}

function isNamed(tool: unknown): tool is { name: string } {
  return isObject(tool) && typeof tool.name === 'string';
}
