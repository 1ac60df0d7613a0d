// A client without a library that speaks one revision. Every request has a tag in `_meta` that says whose it is, `_meta` and members that nobody
// knows, and a progress token; two clients use the same ids and tokens. Everything that comes and goes is written on the tape.
import { parse, stringify } from '../json.mjs';
import { META, TAG, eraOf, isSince } from '../revisions.mjs';
import { BIG, EXTRA } from './catalogue.mjs';
import { dial } from './dial.mjs';
import { answerTo, markOf } from './questions.mjs';

const ABLE = { elicitation: {}, sampling: {}, roots: {}, experimental: { 'com.example/c': EXTRA } };

export class RawClient {
  /** Whether questions are answered at once; if not, `answerHeld` answers what has come. */
  holdsQuestions = false;
  notes = '';
  #way;
  #lastId = 0;
  #lastTag = 0;
  #open = new Map();
  #held = [];
  #serial = Promise.resolve();

  /** `words`: an older revision that it knows no more than. `isPlain`: it cannot be asked anything. */
  constructor(tape, { who, revision, words = revision, isPlain = false, hasTasks = false }) {
    this.isPlain = isPlain;
    this.hasTasks = hasTasks;
    this.words = words;
    this.tape = tape;
    this.who = who;
    this.revision = revision;
    this.era = eraOf(revision);
  }

  async open(way) {
    this.#way = await dial(
      { ...way, revision: this.revision },
      {
        onText: (text) => this.#take(text),
        onLost: (id, why) => this.#lose(id, why),
        isOpen: (id) => this.#open.has(id),
        onNote: (text) => (this.notes += text),
      },
    );
    if (this.era === 'stateless') return this;
    const opened = await this.#begin(this.#opening()).done;
    if (!opened.result) throw new Error(`${this.who}: initialize: ${stringify(opened)}; ${this.notes.slice(-2000)}`);
    if (this.era === 'handshake') await this.notify('notifications/initialized');
    await this.#way.listen?.();
    return this;
  }

  /** `{ tag, id, done }`; `done` is the answer, or `{ lost }`. */
  start(method, params = {}, { token = true, level } = {}) {
    const tag = `${this.who}${++this.#lastTag}`;
    const meta = {
      ...(this.era === 'stateless' && this.#envelope(level)),
      ...(token && this.era !== 'draft' && { progressToken: `token ${this.#lastTag}` }),
      [TAG]: tag,
      'com.example/n': BIG,
      'com.example/text': 'grün 漢字 🙂',
    };
    return this.#begin({ method, params: { ...params, 'x-extra': EXTRA, _meta: meta } }, tag);
  }

  request(method, params, options) {
    return this.start(method, params, options).done;
  }

  /** Something that a gateway answers by itself: it has read everything before. */
  probe() {
    if (this.era === 'handshake') return this.#begin({ method: 'ping' }).done;
    return this.#begin({ method: 'server/discover', params: { _meta: this.#envelope() } }).done;
  }

  async notify(method, params) {
    await this.#send({ method, ...(params && { params }) });
  }

  /** What a client does whose user has lost patience. */
  async cancel({ id, tag }, reason) {
    this.tape.write({ side: 'client', who: this.who, event: 'cancel', tag });
    const call = this.#open.get(this.#now(id, tag));
    const current = call?.id ?? id;
    this.#open.delete(current);
    call?.resolve({ cancelled: true });
    if (this.era === 'draft') return this.notify('cancel', { id: current });
    if (this.era === 'stateless' && this.#way.listen) return this.#way.cancel(current);
    const meta = { [TAG]: tag, 'com.example/n': BIG };
    await this.notify('notifications/cancelled', { requestId: current, reason, _meta: meta, 'x-extra': EXTRA });
  }

  /** Without a word. */
  async leave() {
    this.tape.write({ side: 'client', who: this.who, event: 'left' });
    this.#open.clear();
    await this.#way.leave();
  }

  /** As if the other side had ended the connection. */
  drop() {
    void this.#way.leave();
    this.#lose(undefined, 'the connection ended');
  }

  loseCall(tag) {
    this.#lose(this.#now(undefined, tag), 'refused');
  }

  async close() {
    this.#open.clear();
    await this.#way?.close();
  }

  async answerHeld() {
    this.holdsQuestions = false;
    for (const answer of this.#held.splice(0)) await answer();
  }

  #now(id, tag) {
    return [...this.#open].find(([, call]) => call.tag === tag)?.[0] ?? id;
  }

  #opening() {
    const clientInfo = { name: `client ${this.who}`, version: '1.0.0' };
    if (this.era === 'draft') {
      const able = { supportsProgress: true, supportsCancellation: true };
      return {
        method: 'initialize',
        params: { mcpVersion: '2025-06-18', client: clientInfo, clientCapabilities: able },
      };
    }
    const params = { protocolVersion: this.revision, capabilities: this.#capabilities(), clientInfo };
    return { method: 'initialize', params };
  }

  #capabilities() {
    if (this.isPlain) return {};
    const { elicitation, ...known } = ABLE;
    const extensions = { [`${META}tasks`]: {} };
    const others = { ...known, ...(this.hasTasks && this.era === 'stateless' && { extensions }) };
    return isSince(this.words, '2025-06-18') ? { elicitation, ...others } : others;
  }

  #envelope(level) {
    return {
      [`${META}protocolVersion`]: this.revision,
      [`${META}clientInfo`]: { name: `client ${this.who}`, version: '1.0.0' },
      [`${META}clientCapabilities`]: this.#capabilities(),
      ...(level && { [`${META}logLevel`]: level }),
    };
  }

  #begin(request, tag) {
    const id = ++this.#lastId;
    let resolve;
    const done = new Promise((settle) => (resolve = settle));
    this.#open.set(id, { id, tag, request, resolve });
    void this.#send({ id, ...request });
    return { tag, id, done };
  }

  /** One after the other, as a program writes them. */
  #send(message) {
    const whole = { jsonrpc: '2.0', ...message };
    const text = stringify(whole);
    this.tape.write({ side: 'client', who: this.who, way: 'out', message: whole, text });
    this.#serial = Promise.resolve(this.#serial).then(() => this.#way.send(text, whole));
    return this.#serial;
  }

  #take(text) {
    const message = parse(text);
    this.tape.write({ side: 'client', who: this.who, way: 'in', message, text });
    if (message.method !== undefined && message.id !== undefined) return void this.#asked(message);
    if (message.method !== undefined) return;
    const call = this.#open.get(message.id);
    this.#open.delete(message.id);
    if (message.result?.resultType === 'input_required') return void this.#again(call, message.result);
    call?.resolve(message);
  }

  #lose(id, why) {
    for (const [open, call] of this.#open) {
      if (id !== undefined && open !== id) continue;
      this.#open.delete(open);
      this.tape.write({ side: 'client', who: this.who, event: 'lost', tag: call.tag, why });
      call.resolve({ lost: why });
    }
  }

  async #asked(message) {
    if (message.method === 'ping') return this.#send({ id: message.id, result: {} });
    await this.#answering(message, () => this.#send({ id: message.id, result: answerTo(message, this.who) }));
  }

  /** 2026-07-28: the same request once more, with the answers. */
  async #again(call, { inputRequests = {}, requestState }) {
    if (!call) return;
    const id = ++this.#lastId;
    this.#open.set(id, { ...call, id });
    const answers = Object.entries(inputRequests).map(([key, question]) => [key, answerTo(question, this.who)]);
    const params = {
      ...call.request.params,
      inputResponses: Object.fromEntries(answers),
      ...(requestState !== undefined && { requestState }),
    };
    const [question] = Object.values(inputRequests);
    await this.#answering(
      question ?? {},
      () => this.#open.has(id) && this.#send({ id, method: call.request.method, params }),
    );
  }

  async #answering(question, answer) {
    this.tape.write({ side: 'client', who: this.who, event: 'question', mark: question.method && markOf(question) });
    if (this.holdsQuestions) return void this.#held.push(answer);
    await answer();
  }
}
