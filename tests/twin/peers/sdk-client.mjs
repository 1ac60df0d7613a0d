// An official client, SDK v1 or v2, with the interface of the raw one as far as it has that. What it sends and gets is taken from its transport.
import { installPeers } from '../../peers/harness/install.mjs';
import { stringify } from '../json.mjs';
import { TAG, eraOf } from '../revisions.mjs';
import { answerTo, markOf } from './questions.mjs';

installPeers();
const { openV1 } = await import('../../peers/diff/peers/client-v1.mjs');
const { openV2 } = await import('../../peers/diff/peers/client-v2.mjs');
const OPEN = { 'SDK v1': openV1, 'SDK v2': openV2 };
const ABLE = { elicitation: {}, sampling: {}, roots: {} };

export class SdkClient {
  notes = '';
  #peer;
  #client;
  #lastTag = 0;
  #aborts = new Map();

  constructor(tape, { who, revision, words = revision, peer }) {
    this.tape = tape;
    this.who = who;
    this.revision = revision;
    this.words = words;
    this.era = eraOf(revision);
    this.#peer = peer;
  }

  async open(way) {
    const info = { name: `client ${this.who}`, version: '1.0.0' };
    const write = (direction) => (message) =>
      this.tape.write({ side: 'client', who: this.who, way: direction, message, text: stringify(message) });
    const hooks = { sent: write('out'), came: write('in'), answer: (method, params) => this.#answer(method, params) };
    this.#client = await OPEN[this.#peer](way, { info, capabilities: ABLE, era: this.era }, hooks);
    return this;
  }

  start(method, params = {}, { token = true } = {}) {
    const tag = `${this.who}${++this.#lastTag}`;
    const abort = new AbortController();
    this.#aborts.set(tag, abort);
    const meta = { [TAG]: tag, 'com.example/text': 'grün 漢字 🙂' };
    const request = { method, params: { ...plain(params), _meta: meta } };
    const options = { signal: abort.signal, ...(token && { onprogress: () => {} }) };
    const done = this.#client.request(request, options).then(
      (result) => ({ result }),
      (error) => ({ error }),
    );
    return { tag, done };
  }

  request(method, params, options) {
    return this.start(method, params, options).done;
  }

  async cancel({ tag }, reason) {
    this.tape.write({ side: 'client', who: this.who, event: 'cancel', tag });
    this.#aborts.get(tag).abort(reason);
  }

  /** The official requester of tasks, on this client: starts a call of a tool as a task, follows it, and gives its outcome. */
  async runTask(name, args) {
    const { createTaskSessionFromClient, resultFromTaskOutcome } =
      await import('../../peers/node_modules/@modelcontextprotocol/ext-tasks/dist/client/index.js');
    const tag = `${this.who}${++this.#lastTag}`;
    const session = createTaskSessionFromClient(this.#client.client, { endpointId: 'twin' });
    try {
      const execution = await session.callTool(name, plain(args), {
        metadata: { [TAG]: tag },
        task: { preference: 'require' },
      });
      const { outcome } = await execution.settle();
      const result = resultFromTaskOutcome(outcome);
      this.tape.write({ side: 'play', event: 'outcome', tag, kind: execution.kind, text: JSON.stringify(result) });
    } finally {
      await session.close();
    }
  }

  async close() {
    await this.#client?.close();
  }

  #answer(method, params) {
    this.tape.write({ side: 'client', who: this.who, event: 'question', mark: markOf({ method, params }) });
    return answerTo({ method, params }, this.who);
  }
}

/** SDKs have doubles only. */
function plain(value) {
  return JSON.parse(stringify(value));
}
