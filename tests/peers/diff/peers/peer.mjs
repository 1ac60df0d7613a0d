// A client of an official SDK, and beside it what its server was told: the face that every behaviour is written against.
// What a client was told is taken off its transport, before the SDK drops what it does not know.
import { setTimeout as delay } from 'node:timers/promises';
import { RecordReader } from './record.mjs';

const DEADLINE_MS = 20_000;
const OPEN_DEADLINE_MS = 1_500;
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** Something that was waited for and did not come. */
export class Never extends Error {}

export class Peer {
  /** The result of `initialize` or `server/discover` as it came. */
  greeting;
  /** Answers to what the server asks, by method: `(params) => result`. */
  answers = {};
  #sdk;
  #reader;
  #heard = [];
  #asked = [];
  #sent = [];
  #responses = new Map();
  #level;
  #deadlineMs = DEADLINE_MS;

  constructor(recordFile) {
    this.#reader = new RecordReader(recordFile);
  }

  /** `open(hooks)` connects a client of an SDK: `{ era, request, notify, listen, close }`. */
  async open(open) {
    this.#sdk = await open({
      sent: (message) => this.#sent.push(message),
      came: (message) => this.#came(message),
      answer: (method, params, tools) => this.#answer(method, params, tools),
    });
    this.greeting = await this.#greet();
    return this;
  }

  get era() {
    return this.#sdk.era;
  }

  /** A stateless client has asked before its transport was ours to see: it asks again. */
  async #greet() {
    if (this.era === 'stateless') return (await this.request('server/discover', {})).result;
    return this.#responses.get(this.#sent.find(({ method }) => method === 'initialize').id).result;
  }

  /** Before each behaviour. */
  begin({ isOpen = false } = {}) {
    this.#deadlineMs = isOpen ? OPEN_DEADLINE_MS : DEADLINE_MS;
    this.#heard = [];
    this.#asked = [];
    this.answers = {};
    this.#reader.skip();
  }

  /** `{ result }` or `{ error }` as it came, else `{ failed }` in the words of the SDK. */
  async request(method, params, { progress = false, signal, timeout = 30_000 } = {}) {
    const first = this.#sent.length;
    const level = this.#level && { [LOG_LEVEL]: this.#level };
    const asked = level ? { ...params, _meta: { ...params?._meta, ...level } } : params;
    let failed;
    try {
      const value = await this.#sdk.request(
        { method, params: asked },
        { signal, timeout, ...(progress && { onprogress: () => {} }) },
      );
      failed = `no answer on the wire, but ${JSON.stringify(value)}`;
    } catch (error) {
      failed = error.message;
    }
    const last = this.#sent.slice(first).findLast(({ id, method: said }) => id !== undefined && said === method);
    return this.#plain(this.#responses.get(last?.id)) ?? { failed };
  }

  /** What a tool answered; `args` left out stays left out. */
  call(name, args, options) {
    return this.request('tools/call', { name, ...(args !== undefined && { arguments: args }) }, options);
  }

  /** The result as the SDK gives it: for requests side by side. */
  async resultOf(name, args) {
    return this.#sdk.request({ method: 'tools/call', params: { name, arguments: args } }, { timeout: 30_000 });
  }

  /** With the id of the task as it is. */
  taskOf(name, args) {
    return this.#sdk.request(
      { method: 'tools/call', params: { name, arguments: args, task: { ttl: 60_000 } } },
      { timeout: 30_000 },
    );
  }

  notify(method, params) {
    return this.#sdk.notify({ method, params });
  }

  async setLevel(level) {
    if (this.era === 'handshake') return this.request('logging/setLevel', { level });
    this.#level = level;
    return { result: {} };
  }

  resetLevel() {
    this.#level = undefined;
  }

  /** Until `close()` of what it gives. */
  async subscribe(uri) {
    if (this.era === 'stateless') return this.#sdk.listen({ resourceSubscriptions: [uri] });
    await this.request('resources/subscribe', { uri });
    return { close: () => this.request('resources/unsubscribe', { uri }) };
  }

  async watchLists() {
    if (this.era !== 'stateless') return { close() {} };
    return this.#sdk.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
  }

  /** Parameters of the notifications that came. */
  heard(method) {
    return this.#heard.filter((message) => message.method === method).map(({ params }) => this.#plainParams(params));
  }

  heardInOrder() {
    return this.#heard.map(({ method, params }) => ({ method, params: this.#plainParams(params) }));
  }

  /** Questions of the server: requests, or those in a result. */
  get asked() {
    return this.#asked;
  }

  /** Parameters of what the server was sent by this method. */
  got(method) {
    return this.#reader.events
      .filter(({ message }) => message?.method === method)
      .map(({ message }) => plainAtServer(message.params));
  }

  /** What it was told when the connection that serves this client began. */
  get introduction() {
    const { message } = this.#reader.everything.findLast(({ message: one }) => one?.method === 'initialize') ?? {};
    if (!message) return 'it was never initialized';
    const { clientInfo, capabilities, protocolVersion, ...others } = message.params;
    return { info: clientInfo, capabilities, revision: protocolVersion, others: withoutVia(others) };
  }

  /** What the handlers of the server told of themselves. */
  get events() {
    return this.#reader.events.filter(({ message }) => !message);
  }

  /** Waits for something to be there, and gives it. */
  async until(what, look) {
    const end = Date.now() + this.#deadlineMs;
    for (;;) {
      const found = look();
      if (Array.isArray(found) ? found.length > 0 : found) return found;
      if (Date.now() > end) throw new Never(what);
      await delay(10);
    }
  }

  async pollUntil(what, ask) {
    const end = Date.now() + this.#deadlineMs;
    while (!(await ask())) {
      if (Date.now() > end) throw new Never(what);
      await delay(20);
    }
  }

  untilHeard(method, count = 1) {
    return this.until(method, () => {
      const heard = this.heard(method);
      return heard.length >= count ? heard : undefined;
    });
  }

  untilGot(method) {
    return this.until(method, () => this.got(method));
  }

  untilEvent(name) {
    return this.until(name, () => this.events.find((event) => name in event));
  }

  close() {
    return this.#sdk.close();
  }

  async #answer(method, params, tools) {
    const answer = this.answers[method];
    if (!answer) throw Object.assign(new Error(`The client has no answer to ${method}`), { code: -32601 });
    return answer(params, tools);
  }

  #came(message) {
    if (message.method && message.id === undefined) this.#heard.push(message);
    else if (message.method) this.#asked.push({ method: message.method, params: plainAtServer(message.params) });
    else {
      this.#responses.set(message.id, message);
      for (const { method, params } of Object.values(message.result?.inputRequests ?? {}))
        this.#asked.push({ method, params });
    }
  }

  #plain(message) {
    if (!message) return undefined;
    return message.error ? { error: message.error } : { result: plainTask(message.result) };
  }

  /** Ids are chosen by each side: what has to hold is that they are those the client chose. */
  #plainParams(params) {
    if (!params) return params;
    const { progressToken, ...rest } = params;
    const tokens = this.#sent.map((message) => message.params?._meta?.progressToken);
    if (progressToken !== undefined)
      rest.progressToken = tokens.includes(progressToken) ? '<own token>' : `unknown ${typeof progressToken}`;
    const subscription = rest._meta?.[SUBSCRIPTION];
    if (subscription !== undefined) {
      const isOwn = this.#sent.some(
        ({ id, method }) => method === 'subscriptions/listen' && String(id) === String(subscription),
      );
      rest._meta = { ...rest._meta, [SUBSCRIPTION]: isOwn ? '<own subscription>' : 'unknown subscription' };
    }
    return plainTask(rest);
  }
}

/** A gateway adds the ids of the gateways on the way. */
function withoutVia({ _meta: { 'mcp-parley/via': _, ...meta } = {}, ...rest }) {
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
}

function plainAtServer(params) {
  if (params?._meta?.progressToken === undefined) return params;
  return { ...params, _meta: { ...params._meta, progressToken: '<token>' } };
}

/** The id and the times of a task differ from run to run. */
function plainTask(value) {
  if (Array.isArray(value)) return value.map(plainTask);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === 'taskId' && typeof inner === 'string') return [key, '<task>'];
      if ((key === 'createdAt' || key === 'lastUpdatedAt') && typeof inner === 'string') return [key, '<time>'];
      return [key, plainTask(inner)];
    }),
  );
}
