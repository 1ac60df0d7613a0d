// A server without a library that speaks one revision. What a call does is said by the call itself (`steps`): it reports progress, logs, asks,
// waits for a gate that the conversation opens, and answers with what it was sent. Everything that comes and goes is written on the tape.
import { Exact, parse, stringify } from '../json.mjs';
import { META, eraOf, isSince, ownMeta, tagOf } from '../revisions.mjs';
import { BIG, EXTRA, pageOf } from './catalogue.mjs';
import { questionOf } from './questions.mjs';
import { ServerTasks } from './server-tasks.mjs';

const USES = new Set(['tools/call', 'prompts/get', 'resources/read', 'tools/invoke', 'com.example/custom']);

export class RawServer {
  /** `{ at(message, delivery), act(delivery, message), left }`: the first that matches is acted on instead of an answer. */
  faults = [];
  /** Says what is wrong with the headers of a request, as `{ status, headers }`. */
  guard;
  /** Whether the step `cut` cuts the stream of the call; it resumes it when it is asked to. */
  cuts = false;
  #gates = new Map();
  #open = new Map();
  #questions = new Map();
  #subscribers = new Map();
  #lastQuestion = 0;
  #tasks;

  /** `words`: an older revision whose lists and results it has to offer. */
  constructor(tape, { revision, words = revision, name = 'one', hasTasks = false }) {
    this.words = words;
    this.tape = tape;
    this.revision = revision;
    this.era = eraOf(revision);
    this.name = name;
    this.hasTasks = hasTasks;
    if (hasTasks) this.#tasks = new ServerTasks(this.era);
  }

  /** What a transport brings: `delivery` can send, end, push, refuse, cut and die, and knows its connection and session. */
  take(text, delivery) {
    const message = parse(text);
    const { conn, session, headers } = delivery;
    this.tape.write({ side: 'server', way: 'in', server: this.name, conn, session, headers, message, text });
    const refusal = this.guard?.(message, delivery);
    if (refusal) return this.refuse(delivery, message, refusal);
    const fault = this.faults.find((one) => one.left > 0 && one.at(message, delivery));
    if (fault) {
      fault.left--;
      this.tape.write({ side: 'server', event: 'fault', name: fault.name, tag: tagOf(message) });
      return fault.act(delivery, message);
    }
    return this.serve(delivery, message);
  }

  serve(delivery, message) {
    if (message.method === undefined) return this.#hearAnswer(message, delivery);
    if (message.id === undefined) return this.#hear(delivery, message);
    return this.#serve(delivery, message);
  }

  refuse(delivery, message, { status, headers = {}, body = '' }) {
    this.tape.write({ side: 'server', event: 'refused', status, tag: tagOf(message), session: delivery.session });
    delivery.refuse(status, headers, body);
  }

  /** Lets go what waits for a gate, now or later. */
  open(name) {
    this.#gate(name).open();
  }

  /** To all who have subscribed to it. */
  update(uri) {
    for (const { push, id } of this.#subscribers.get(uri) ?? []) {
      const meta = id === undefined ? { 'com.example/n': BIG } : { [`${META}subscriptionId`]: id };
      this.#out(push, { method: 'notifications/resources/updated', params: { uri, _meta: meta, 'x-extra': EXTRA } });
    }
  }

  isSubscribed(uri) {
    return (this.#subscribers.get(uri)?.length ?? 0) > 0;
  }

  /** A connection or a request has ended without a word. */
  closed({ conn, id }) {
    const call = this.#open.get(`${conn} ${id}`);
    if (call) call.isCancelled = true;
    this.tape.write({ side: 'server', event: 'closed', conn, tag: call?.tag });
  }

  answer(delivery, { id }, result) {
    this.#out(delivery.end, { id, result: this.era === 'stateless' ? this.#complete(result) : result });
  }

  fail(delivery, { id }, error) {
    this.#out(delivery.end, { id, error });
  }

  #out(send, message) {
    const whole = { jsonrpc: '2.0', ...message };
    const text = stringify(whole);
    this.tape.write({ side: 'server', way: 'out', server: this.name, message: whole, text });
    send(text);
  }

  #complete(result) {
    return { resultType: 'complete', ...result, _meta: { ...result._meta, [`${META}serverInfo`]: this.#info } };
  }

  get #info() {
    return { name: this.name, version: '1.0.0', 'x-extra': EXTRA };
  }

  #hear(delivery, { method, params }) {
    if (method === 'notifications/cancelled' || method === 'cancel') {
      const call = this.#open.get(`${delivery.conn} ${String(params.requestId ?? params.id)}`);
      if (call) call.isCancelled = true;
      // In the draft dialect the answer of the call acknowledges it.
      if (call && this.era === 'draft') this.answer(call.delivery, call.message, { status: 'cancelled' });
    }
    delivery.accept();
  }

  #hearAnswer(message, delivery) {
    const question = this.#questions.get(message.id);
    this.#questions.delete(message.id);
    question?.(message.result ?? { refused: message.error });
    delivery.accept();
  }

  #serve(delivery, message) {
    const { method } = message;
    if (method === 'initialize') return this.#initialize(delivery, message);
    if (method === 'server/discover') return this.#discover(delivery, message);
    if (USES.has(method)) return void this.#play(delivery, message);
    if (this.#tasks && method.startsWith('tasks/')) return void this.#answerTask(delivery, message);
    const page = pageOf(message, this, this.name);
    if (page?.refused) return this.fail(delivery, message, page.refused);
    if (page) return this.answer(delivery, message, page.result);
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe')
      return this.#subscribe(delivery, message);
    if (method === 'subscriptions/listen') return this.#listen(delivery, message);
    const result = this.#small(message);
    if (result) return this.answer(delivery, message, { ...result, 'x-extra': EXTRA });
    return this.fail(delivery, message, { code: -32601, message: `no ${method}`, data: { method, n: BIG } });
  }

  #small({ method, params }) {
    if (method === 'ping' || method === 'logging/setLevel') return {};
    if (method !== 'completion/complete') return undefined;
    return { completion: { values: [`${params.argument.value}ä`, 'b'], total: 2, hasMore: false, 'x-extra': EXTRA } };
  }

  #initialize(delivery, message) {
    const { era, revision } = this;
    const offered = message.params?.protocolVersion;
    if (era === 'stateless') {
      const data = { supported: [revision], requested: offered ?? '' };
      return this.fail(delivery, message, { code: -32022, message: 'Unsupported protocol version', data });
    }
    delivery.begin();
    if (era === 'draft') {
      if (message.params?.mcpVersion === undefined)
        return this.fail(delivery, message, { code: -32602, message: 'no mcpVersion' });
      const able = { supportsToolDiscovery: true, supportsResourceDiscovery: true, supportsNotifications: true };
      return this.answer(delivery, message, { server: { name: this.name, version: '1' }, serverCapabilities: able });
    }
    return this.answer(delivery, message, {
      protocolVersion: revision,
      capabilities: this.#capabilities(),
      serverInfo: this.#info,
    });
  }

  #discover(delivery, message) {
    if (this.era !== 'stateless') return this.fail(delivery, message, { code: -32601, message: 'Method not found' });
    return this.answer(delivery, message, {
      supportedVersions: [this.revision],
      capabilities: this.#capabilities(),
      ttlMs: 0,
      cacheScope: 'private',
    });
  }

  #capabilities() {
    const lists = { listChanged: true };
    return {
      tools: lists,
      prompts: lists,
      resources: { subscribe: true, ...lists },
      logging: {},
      ...(isSince(this.words, '2025-03-26') && { completions: {} }),
      experimental: { 'com.example/x': EXTRA },
      ...this.#tasks?.capabilities,
    };
  }

  #subscribe(delivery, message) {
    const { uri } = message.params;
    const others = (this.#subscribers.get(uri) ?? []).filter(({ conn }) => conn !== delivery.conn);
    const own = { conn: delivery.conn, push: delivery.push };
    this.#subscribers.set(uri, message.method === 'resources/subscribe' ? [...others, own] : others);
    this.answer(delivery, message, {});
  }

  #listen(delivery, message) {
    const { id, params } = message;
    const meta = { [`${META}subscriptionId`]: id };
    const { notifications } = params;
    this.#out(delivery.send, {
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications, _meta: meta },
    });
    for (const uri of notifications.resourceSubscriptions ?? []) {
      const others = this.#subscribers.get(uri) ?? [];
      this.#subscribers.set(uri, [...others, { conn: delivery.conn, push: delivery.send, id }]);
    }
  }

  async #answerTask(delivery, message) {
    const { result, error } = await this.#tasks.answer(message);
    if (error) this.fail(delivery, message, error);
    else this.answer(delivery, message, result);
  }

  async #play(delivery, message) {
    const state = message.params?.requestState === undefined ? undefined : parse(message.params.requestState);
    const call = new Play({ message, delivery, tag: tagOf(message) ?? '?', answers: state?.answers ?? [] });
    const key = `${delivery.conn} ${message.id instanceof Exact ? message.id.text : message.id}`;
    this.#open.set(key, call);
    if (state) call.hear(message.params.inputResponses);
    const task = this.#tasks?.wants(message) ? this.#tasks.begin() : undefined;
    if (task) this.answer(delivery, message, task.first);
    for (const [index, step] of call.steps.entries()) {
      if (index <= (state?.index ?? -1)) continue;
      if (await this.#step(step, { delivery, call, index })) return void this.#open.delete(key);
      if (call.isCancelled && !call.steps.includes('stubborn')) return void this.#open.delete(key);
    }
    this.#open.delete(key);
    const result = resultOf(message, call, this);
    if (task) task.finish(result);
    else this.answer(delivery, message, result);
  }

  /** Returns true when the call has been answered by the step. */
  async #step(step, { delivery, call, index }) {
    const [what, more] = step.split(':');
    if (what === 'progress') this.#progress(delivery, call);
    if (what === 'log') this.#log(delivery, call);
    if (what === 'gate') await this.#wait(more, call);
    if (what === 'cut' && this.cuts) delivery.cut();
    if (what === 'fail') {
      this.fail(delivery, call.message, { code: -31000, message: `${call.tag} no`, data: EXTRA });
      return true;
    }
    return ['elicit', 'sample', 'roots'].includes(what) && this.#ask(what, { delivery, call, index });
  }

  #progress(delivery, call) {
    const token = call.message.params?._meta?.progressToken;
    if (this.era === 'draft') {
      const params = { id: call.message.id, percent: ++call.reports * 10, message: `${call.tag} ${call.reports}` };
      return this.#out(delivery.send, { method: 'progress', params });
    }
    if (token === undefined) return;
    const progress = ++call.reports;
    const message = isSince(this.words, '2025-03-26') ? { message: `${call.tag} ${progress}` } : {};
    const params = { progressToken: token, progress, total: BIG, ...message, 'x-extra': EXTRA };
    this.#out(delivery.send, { method: 'notifications/progress', params });
  }

  #log(delivery, call) {
    const isWanted = this.era === 'handshake' || call.message.params?._meta?.[`${META}logLevel`] !== undefined;
    if (this.era === 'draft' || !isWanted) return;
    const params = { level: 'info', logger: 'twin', data: { of: call.tag, extra: EXTRA } };
    this.#out(delivery.send, { method: 'notifications/message', params });
  }

  async #wait(name, call) {
    this.tape.write({ side: 'server', event: 'gate', name, tag: call.tag });
    await this.#gate(name).opened;
  }

  #gate(name) {
    if (!this.#gates.has(name)) {
      let open;
      const opened = new Promise((resolve) => (open = resolve));
      this.#gates.set(name, { open, opened });
    }
    return this.#gates.get(name);
  }

  async #ask(kind, { delivery, call, index }) {
    const question = questionOf(kind, `${call.tag} q${index}`);
    if (this.era === 'stateless') {
      const requestState = stringify({ index, answers: call.answers });
      this.#out(delivery.end, {
        id: call.message.id,
        result: { resultType: 'input_required', inputRequests: { [`q${index}`]: question }, requestState },
      });
      return true;
    }
    const id = `${this.name} s${++this.#lastQuestion}`;
    const answered = new Promise((resolve) => this.#questions.set(id, resolve));
    this.#out(delivery.send, { id, ...question });
    call.answers.push(await answered);
    return false;
  }
}

/** One call that is being played. */
class Play {
  isCancelled = false;
  reports = 0;

  constructor({ message, delivery, tag, answers }) {
    this.message = message;
    this.delivery = delivery;
    this.tag = tag;
    this.answers = answers;
    this.steps = stepsOf(message);
  }

  hear(responses = {}) {
    this.answers.push(...Object.values(responses));
  }
}

/** Tools take a list, prompts a text, resources have them in their URI. */
function stepsOf({ params }) {
  const steps =
    params?.arguments?.steps ?? params?.steps ?? /^twin:\/\/play\/([^?]*)/.exec(params?.uri ?? '')?.[1] ?? [];
  return typeof steps === 'string' ? steps.split(',').filter(Boolean) : steps;
}

function resultOf(message, { answers, tag, steps }, { revision, words }) {
  const { method, params } = message;
  const shared = { _meta: { 'com.example/got': ownMeta(params?._meta), 'com.example/n': BIG }, 'x-extra': EXTRA };
  const large = steps.find((step) => step.startsWith('large:'))?.slice(6) ?? 0;
  const said = `${tag} ${'ß'.repeat(Number(large))}${answers.length > 0 ? stringify(answers) : ''}`;
  if (method === 'prompts/get') {
    return { description: tag, messages: [{ role: 'user', content: { type: 'text', text: said } }], ...shared };
  }
  if (method === 'resources/read') {
    const hints = revision === '2026-07-28' ? { ttlMs: 0, cacheScope: 'private' } : {};
    return { contents: [{ uri: params?.uri, mimeType: 'text/plain', text: said }], ...hints, ...shared };
  }
  if (method === 'com.example/custom') return { got: params?.arguments, said, ...shared };
  if (method === 'tools/invoke') return { status: 'success', output: { got: params?.arguments, answers } };
  const content = [{ type: 'text', text: `${said} ${stringify(params?.arguments ?? null)}` }];
  if (!isSince(words, '2025-06-18')) return { content, ...shared };
  return { content, structuredContent: { got: params?.arguments, answers }, ...shared };
}
