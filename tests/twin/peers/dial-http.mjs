// Streamable HTTP of a raw client: a POST for each message, in the handshake era a session with a GET stream, and streams that are resumed after a cut.
import { Agent, request as startRequest } from 'node:http';
import { bodyOf, readEvents } from './event-streams.mjs';
import { META, eraOf, isSince } from '../revisions.mjs';

export function dialHttp({ url, revision, headers = {} }, hooks) {
  return new HttpWay(url, { revision, headers, hooks });
}

class HttpWay {
  #url;
  #revision;
  #headers;
  #hooks;
  #agent = new Agent({ keepAlive: true });
  #session;
  #posts = new Map();
  #listening;
  #isLeft = false;

  constructor(url, { revision, headers, hooks }) {
    this.#url = url;
    this.#revision = revision;
    this.#headers = headers;
    this.#hooks = hooks;
  }

  send(text, message) {
    const request = this.#request('POST', this.#headersOf(message));
    const { id } = message;
    if (message.method !== undefined && id !== undefined) this.#posts.set(id, request);
    return new Promise((resolve) => {
      request.on('response', (response) => {
        this.#session ??= response.headers['mcp-session-id'];
        void this.#read(response, message).then(resolve);
      });
      request.on('error', () => resolve(this.#lose(id, 'the connection ended')));
      const isCall = message.method !== undefined && id !== undefined && message.method !== 'initialize';
      request.end(text, () => isCall && resolve());
    });
  }

  /** In 2026-07-28 who closes the connection has cancelled. */
  cancel(id) {
    this.#posts.get(id)?.destroy();
  }

  /** The stream for what belongs to no request. */
  listen() {
    if (eraOf(this.#revision) === 'stateless' || this.#session === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#listening = this.#request('GET', { accept: 'text/event-stream' });
      this.#listening.on('error', resolve).on('response', (response) => {
        readEvents(response, ({ data }) => data && this.#hooks.onText(data));
        resolve();
      });
      this.#listening.end();
    });
  }

  leave() {
    this.#isLeft = true;
    for (const request of this.#posts.values()) request.destroy();
    this.#listening?.destroy();
    this.#agent.destroy();
  }

  async close() {
    if (this.#session !== undefined && !this.#isLeft) {
      await new Promise((resolve) => {
        const request = this.#request('DELETE', {});
        request.on('error', resolve).on('response', (response) => response.resume().on('end', resolve));
        request.end();
      });
    }
    this.leave();
  }

  #headersOf({ method, params }) {
    const accept = 'application/json, text/event-stream';
    const shared = { accept, 'content-type': 'application/json' };
    if (eraOf(this.#revision) !== 'stateless') return shared;
    const name = params?.name ?? params?.uri ?? params?.taskId;
    const isNamed = /^(tools\/call|prompts\/get|resources\/read|tasks\/\w+)$/.test(method) && typeof name === 'string';
    return {
      ...shared,
      'mcp-protocol-version': params?._meta?.[`${META}protocolVersion`] ?? this.#revision,
      'mcp-method': method,
      ...(isNamed && { 'mcp-name': name }),
    };
  }

  #request(method, headers) {
    const session = this.#session === undefined ? {} : { 'mcp-session-id': this.#session };
    const says = isSince(this.#revision, '2025-06-18') && this.#session !== undefined;
    const version = says && eraOf(this.#revision) === 'handshake' ? { 'mcp-protocol-version': this.#revision } : {};
    const all = { ...this.#headers, ...session, ...version, ...headers };
    return startRequest(this.#url, { method, headers: all, agent: this.#agent }).on('error', () => {});
  }

  async #read(response, { id, method }) {
    const { statusCode: status, headers } = response;
    if (headers['content-type']?.startsWith('text/event-stream')) return this.#follow(response, id);
    const text = await bodyOf(response).catch(() => '');
    if (text.startsWith('{') && hasId(text)) this.#hooks.onText(text);
    else if (id !== undefined && method !== undefined) this.#lose(id, `HTTP ${status}`);
  }

  /** Reads a stream to its end, and goes on with it after a cut if its events have ids. */
  #follow(response, id) {
    let last;
    let retry = 10;
    return new Promise((resolve) => {
      readEvents(response, (event) => {
        if (event.id !== undefined) last = event.id;
        if (event.retry !== undefined) retry = Number(event.retry);
        if (event.data) this.#hooks.onText(event.data);
      });
      response
        .on('error', () => {})
        .on('close', () => {
          resolve();
          if (!this.#hooks.isOpen(id) || this.#isLeft) return;
          if (last === undefined || eraOf(this.#revision) === 'stateless') return this.#lose(id, 'the stream ended');
          setTimeout(() => this.#resume(last, id), retry);
        });
    });
  }

  #resume(last, id) {
    const request = this.#request('GET', { accept: 'text/event-stream', 'last-event-id': last });
    request.on('error', () => this.#lose(id, 'the stream ended'));
    request.on('response', (response) => void this.#follow(response, id));
    request.end();
  }

  #lose(id, why) {
    if (id !== undefined && !this.#isLeft) this.#hooks.onLost(id, why);
  }
}

function hasId(text) {
  return /"id":\s*(?!null)/.test(text);
}
