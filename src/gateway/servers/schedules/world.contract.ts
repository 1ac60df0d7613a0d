// For tests only (the build leaves `*.contract.ts` out): one target, its servers in memory, and clients of all kinds that come,
// call, give up and leave. It records every message that reaches the wrong client.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import type { Ask, ClientView, Exchange, LogEntry, Progress } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import type { Change } from '../../../kernel/target.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { FakeClock } from '../../../mcp/eras/fake-context.contract.ts';
import { UpstreamTarget } from '../upstream-target.ts';
import { FakeServer } from './fake-server.contract.ts';
import type { OnCancel, Servers, Wire } from './fake-server.contract.ts';

const ASSISTED: ClientCapabilities = { elicitation: { form: {} } };
/** Handshake or stateless; asked directly, or through the call. */
export const KINDS = ['session', 'stateless', 'asked session', 'asked stateless'] as const;
export type Kind = (typeof KINDS)[number];

interface Person {
  /** The prefix of the tags of its calls. */
  name: string;
  kind: Kind;
  view: ClientView;
  unwatch: () => void;
}

interface Question {
  settle(answer: JsonObject): void;
  by: string;
}

interface Call {
  tag: string;
  controller: AbortController;
  isSettled: boolean;
}

export class World {
  readonly clock = new FakeClock();
  readonly servers: Servers;
  readonly people: Person[] = [];
  /** By name, also clients that have left. */
  readonly #everybody = new Map<string, Person>();
  readonly calls: Call[] = [];
  readonly questions = new Set<Question>();
  readonly problems: string[];
  delivered = 0;
  readonly #target: UpstreamTarget;
  #named = 0;

  constructor({ wire, onCancel, share }: { wire: Wire; onCancel: OnCancel; share: 'auto' | 'quiet' | 'session' }) {
    this.problems = [];
    this.servers = { wire, onCancel, all: [], jobs: [], questions: [], problems: this.problems };
    const address = { canReopen: true, open: () => new FakeServer(this.servers) };
    this.#target = new UpstreamTarget({
      name: 'fake',
      address,
      client: { name: 'parley', version: '1' },
      era: 'handshake',
      share: share === 'session' ? share : 'auto',
      sharesUntilAsked: share === 'quiet',
      assisted: () => ASSISTED,
      clock: this.clock,
      log: createLog({ level: 'silent' }),
      timeoutMs: 60_000,
      limits: { maxPool: 3 },
    });
  }

  /** Adds a client. Several clients may share a principal. */
  connect(kind: Kind, principal: string): Person {
    const name = `${principal}-${++this.#named}`;
    const person: Person = { name, kind, view: viewOf(kind, principal), unwatch: () => {} };
    const listener = (change: Change): void => this.#hear(person, change);
    const ask = (one: Ask, signal?: AbortSignal): Promise<JsonObject> => this.#ask(person, '', one, signal);
    const isSession = !kind.endsWith('stateless');
    person.unwatch = isSession ? this.#target.watch(listener, { client: person.view, ask }) : () => {};
    this.people.push(person);
    this.#everybody.set(name, person);
    return person;
  }

  disconnect(person: Person): void {
    for (const call of this.calls) if (ownerOf(call.tag) === person.name) call.controller.abort();
    person.unwatch();
    this.people.splice(this.people.indexOf(person), 1);
  }

  call(person: Person, tool: string, asTask = false): void {
    const tag = `${person.name}/${this.calls.length} ${tool}`;
    const controller = new AbortController();
    const call: Call = { tag, controller, isSettled: false };
    this.calls.push(call);
    // Each stateless request has its own client object.
    const client = person.kind.endsWith('stateless') ? viewOf(person.kind, person.view.principal) : person.view;
    const exchange: Exchange = {
      id: tag,
      method: 'tools/call',
      params: { name: tool, arguments: { tag } },
      client,
      signal: controller.signal,
      ...(asTask && person.kind.endsWith('session') && { task: { requested: true } }),
      notify: () => {},
      progress: ({ message }: Progress) => this.#check(message === tag, `progress of ${message} told to ${tag}`),
      log: ({ data }: LogEntry) =>
        this.#check(ownerOf(String(data)) === person.name, `log of ${String(data)} told to ${tag}`),
      canAsk: () => true,
      ask: (one, signal) => this.#ask(person, tag, one, signal, controller.signal),
      releaseStream: () => {},
    };
    void Promise.resolve(this.#target.handle(exchange)).then(
      (result) => {
        call.isSettled = true;
        const [block] = (fieldOf(result, 'content') ?? []) as { text: string }[];
        if (block) this.#check(block.text === tag, `the answer of ${block.text} given to ${tag}`);
      },
      () => (call.isSettled = true),
    );
  }

  list(person: Person): void {
    const client = person.view;
    const exchange = { id: '', method: 'tools/list', params: {}, client, signal: new AbortController().signal };
    const quiet = { notify() {}, progress() {}, log() {}, canAsk: () => false, releaseStream() {} };
    const ask = (one: Ask): Promise<JsonObject> =>
      Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: one.method }));
    void Promise.resolve(this.#target.handle({ ...exchange, ...quiet, ask })).catch(() => {});
  }

  /** Ends everything under way; anything left over hangs. */
  async end(): Promise<void> {
    const { jobs, questions } = this.servers;
    for (let round = 0; round < 4; round++) {
      for (const question of this.questions) question.settle({ action: 'accept', content: { by: question.by } });
      await settled();
      for (const job of jobs) {
        job.server.answer(job);
        job.server.tellTask(job, 'completed');
      }
      await settled();
      this.clock.advance(40 * 60_000);
      await settled();
    }
    for (const { tag, isSettled } of this.calls) this.#check(isSettled, `the call ${tag} hangs`);
    for (const { tag, isSettled } of questions) this.#check(isSettled, `the question of ${tag} hangs`);
    await this.#checkIsWell();
    await this.#target.close();
    this.#check(
      this.servers.all.every((one) => one.isClosed),
      'a server is left behind',
    );
  }

  /** After any schedule, a new client gets the question of its call, at the latest at the second attempt. */
  async #checkIsWell(): Promise<void> {
    const person = this.connect('session', 'late');
    for (let attempt = 0; attempt < 2; attempt++) {
      this.call(person, 'ask');
      await settled();
      const job = this.servers.jobs.find(({ tag }) => tag === this.calls.at(-1)!.tag);
      job?.server.ask(job, false);
      await settled();
      this.clock.advance(100);
      await settled();
      const asked = [...this.questions].find(({ by }) => by === job?.tag);
      asked?.settle({ action: 'accept', content: { by: asked.by } });
      job?.server.answer(job);
      await settled();
      if (asked) return;
    }
    this.problems.push('a client that came last was not asked');
  }

  #ask(person: Person, tag: string, ask: Ask, ...signals: (AbortSignal | undefined)[]): Promise<JsonObject> {
    const about = String(ask.params?.message);
    this.delivered++;
    // Outside of calls, a client may get the questions of any of its own calls.
    const isClients = tag === '' || isDirect(person) || ask.method !== 'elicitation/create';
    const isOwn = isClients ? this.#isOf(person, about) : about === tag;
    this.#check(isOwn, `the question of ${about} reached ${person.name} (${tag})`);
    return new Promise((resolve, reject) => {
      const question: Question = { by: about, settle: (answer) => end(() => resolve(answer)) };
      const end = (last: () => void): void => {
        this.questions.delete(question);
        last();
      };
      const giveUp = (): void => end(() => reject(new GatewayError('CANCELLED')));
      this.questions.add(question);
      for (const signal of signals) {
        if (signal?.aborted) giveUp();
        signal?.addEventListener('abort', giveUp, { once: true });
      }
    });
  }

  /** Stateless requests with the same principal and capabilities are one client. */
  #isOf({ name, kind, view }: Person, tag: string): boolean {
    const owner = ownerOf(tag);
    const isSameClient = (other: Person | undefined): boolean =>
      other !== undefined &&
      kind.endsWith('stateless') &&
      other.kind === kind &&
      other.view.principal === view.principal;
    return owner === name || isSameClient(this.#everybody.get(owner));
  }

  #hear(person: Person, change: Change): void {
    if (change.kind === 'log') {
      const about = String(change.entry.data);
      this.#check(ownerOf(about) === person.name, `log of ${about} told to ${person.name}`);
    }
    if (change.kind !== 'task' || change.principal !== person.view.principal) return;
    const owner = ownerOf(change.task.statusMessage ?? '').split('-')[0];
    this.#check(owner === person.view.principal, `task of ${owner} told to ${person.name}`);
  }

  #check(isRight: boolean, problem: string): void {
    if (!isRight) this.problems.push(problem);
  }
}

/** Lets everything happen that needs no time. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Asked on its own connection, where any of its calls may have asked. */
function isDirect({ kind }: Person): boolean {
  return kind === 'asked session';
}

function ownerOf(tag: string): string {
  return tag.split('/')[0]!;
}

function viewOf(kind: Kind, principal: string): ClientView {
  const capabilities: ClientCapabilities = kind.startsWith('asked') ? { elicitation: { form: {} } } : {};
  return {
    ...SPEAKING[kind.endsWith('stateless') ? 'stateless' : 'handshake'],
    revision: '2025-11-25',
    info: { name: 'c', version: '1' },
    capabilities,
    principal,
    assisted: kind.startsWith('asked') ? undefined : ASSISTED,
  };
}
