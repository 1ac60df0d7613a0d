// Decides whose question it is that a server asks on a connection.
// 1. A question that names its call or its task goes there.
// 2. Any other belongs to one of the calls that the server has not answered. A call that was cancelled, timed out or lost its
//    client is one of them until the server answers it: its handler may still run. So is a task until it ends.
// 3. If exactly one call can have asked, its client is asked. If that client has given up, or if there are several such calls,
//    the question is refused at once: nobody is asked by guess, and nobody waits for the calls of others to end.
// 4. A connection with a single client that is asked directly cannot lead to the wrong person: there the client is asked in any case.
// 5. A question for roots on the own connection of a client that is asked only during calls waits for its next call.
// What is known of the calls of a server (call-habits.ts) says which connection a call gets next time.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Ask, ClientView } from '../../../protocol/exchange.ts';
import { isObject } from '../../../protocol/message.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { Clock } from '../../../shared/clock.ts';
import { dictionary } from '../../../shared/containers/dictionary.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { LinkedList } from '../../../shared/containers/linked-list.ts';
import { META } from '../../dialect/meta.ts';
import type { CallOwner, OpenCall } from './open-call.ts';
import { HeldQuestions } from '../connections/held-questions.ts';

export type AskHandler = (ask: Ask, signal?: AbortSignal) => Promise<JsonObject>;

export interface AskRoutingOptions {
  /** What the server was told that it may ask for. */
  capabilities: ClientCapabilities;
  isShared: () => boolean;
  /** Servers of the stateless era ask by their answers, which name the call. */
  asksByRequest: () => boolean;
  clock: Clock;
  /** A client is about to come whose connection this will be, and which can be asked outside of calls. */
  isExpecting: boolean;
  /** An abandoned call keeps the connection from being used for calls that may ask; or no longer does. */
  onWorn?: (isWorn: boolean) => void;
}

/** Abandoned calls that are remembered one by one. */
const MAX_ABANDONED = 1000;

const CAPABILITY_FOR: Record<string, 'elicitation' | 'sampling' | 'roots'> = dictionary({
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
});

export class AskRouting {
  readonly #options: AskRoutingOptions;
  /** What the server has not answered. */
  readonly #calls = new LinkedList<OpenCall>();
  /** Whose call the server has answered last. What it said before may arrive after the answer, on another stream. */
  latest: ClientView | undefined;
  /** Abandoned calls because of which the connection should be replaced. */
  #wearing = new Set<OpenCall>();
  /** There were more abandoned calls than are remembered. */
  #hasForgotten = false;
  #questions = new Set<object>();
  /** Questions of every kind: those that name their call and those that have waited for one, too. */
  #asking = 0;
  readonly #waiting = new Set<() => void>();
  /** The client whose own connection this is, asked outside of calls. */
  #client: AskHandler | undefined;
  #isExpecting: boolean;
  /** The client whose own connection this is can be asked during its calls only. */
  isAskedInCalls = false;
  /** What waits for the next of these calls. */
  readonly held: HeldQuestions;
  /** A question is open from now on. */
  onAsking: (() => void) | undefined;

  constructor(options: AskRoutingOptions) {
    this.#options = options;
    this.held = new HeldQuestions(options.clock);
    this.#isExpecting = options.isExpecting;
  }

  /** Somebody will attend who can be asked outside of calls. */
  get isExpecting(): boolean {
    return this.#isExpecting;
  }

  /** Questions wait for a client that is about to come. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  get #isOwn(): boolean {
    return this.#client !== undefined && !this.#options.isShared();
  }

  /** A user has a question of the call that this connection was taken for. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  /** Whether the questions of one more call could be told from those of others. */
  get takesCalls(): boolean {
    return this.#questions.size === 0 && this.#wearing.size === 0 && !this.#hasForgotten;
  }

  /** The server is at work for nobody. */
  get isFree(): boolean {
    return this.#calls.isEmpty && !this.#hasForgotten;
  }

  /** The server runs tasks for calls that it has answered. */
  get hasTasks(): boolean {
    return this.#calls.values().some((one) => one.isTask);
  }

  /** Everyone whose calls the server has not answered. */
  get clients(): Set<ClientView | undefined> {
    return new Set(this.#calls.values().map(({ client }) => client));
  }

  /**
   * The only call that somebody waits for, where all that the server has not answered is of one principal. A stateless server never
   * answers a cancelled call: without this, one cancel would silence it for good.
   */
  get soleOfPrincipal(): CallOwner | undefined {
    const calls = this.#calls.values();
    const isOfOne = calls.every(({ client }) => client && client.principal === calls[0]?.client?.principal);
    const waiting = calls.filter(({ caller }) => caller && !caller.isGone);
    return isOfOne && waiting.length === 1 && !this.#hasForgotten ? waiting[0]?.caller : undefined;
  }

  /** The one call that the server is at work for; undefined when there are several, or none that anybody waits for. */
  get sole(): CallOwner | undefined {
    const [only, ...others] = this.#calls.values();
    return others.length === 0 && !this.#hasForgotten ? only?.caller : undefined;
  }

  enter(call: OpenCall): void {
    this.#calls.add(call);
  }

  leave(call: OpenCall): void {
    if (!this.#calls.delete(call)) return;
    if (call.client) this.latest = call.client;
    if (this.#wearing.size > 0 && this.#wearing.delete(call)) this.#tellWorn();
  }

  /** Nobody waits for the answer any more. */
  abandon(call: OpenCall, isQuiet: boolean): void {
    if (!this.#calls.has(call)) return;
    // Whatever it asks goes to its client, as what any other call of it asks.
    if (this.#isOwn && call.client && !call.client.assisted) return void this.#calls.delete(call);
    if (!isQuiet) this.#wear([call]);
    const abandoned = this.#calls.values().filter((one) => one.isAbandoned);
    if (abandoned.length > MAX_ABANDONED) this.#forgetOldest();
  }

  /** Requests for its result that were given up are over with it. */
  endTask(taskId: string): void {
    for (const call of this.#calls.values()) {
      if (call.taskId === taskId && (call.isTask || call.isAbandoned)) call.leave();
    }
    if (!this.hasTasks && this.#wearing.size > 0) this.#tellWorn();
  }

  /** The connection is gone, and all that the server was doing with it. */
  reset(): void {
    this.#calls.clear();
    this.latest = undefined;
    this.#wearing.clear();
    this.#questions = new Set();
    this.#hasForgotten = false;
  }

  /** The client is there, and answers what belongs to no call of it. */
  attend(client: AskHandler): void {
    this.#client = client;
    this.#decide();
  }

  /** Nobody will attend, now or any more. */
  dismiss(): void {
    this.#client = undefined;
    this.#decide();
  }

  /** For a call that has the connection to itself: whatever it asks, the connection is not at work meanwhile. */
  counted(put: AskHandler): AskHandler {
    return async (ask, signal) => {
      this.#asking++;
      this.onAsking?.();
      try {
        return await put(ask, signal);
      } finally {
        this.#asking--;
      }
    };
  }

  async put(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    const suspects = this.#suspectsOf(ask);
    if (suspects.length === 0 && !this.#hasForgotten) return this.#putToClient(ask, signal);
    const isOwners = this.#isOwners(ask, suspects);
    if (!isOwners && !this.#isDeclared(ask)) throw cannotBeAsked(ask);
    const isLesson = !isOwners || (suspects.length === 1 && ask.method === 'elicitation/create');
    for (const call of suspects) call.learnUnnamed(isLesson);
    if (isOwners) return held(suspects, () => this.#putToOwner(suspects, ask, signal));
    const [only] = suspects;
    if (suspects.length > 1 || this.#hasForgotten || !only) throw this.#unclear(ask, suspects);
    if (!only.caller || only.caller.isGone) throw abandoned(ask);
    const { caller } = only;
    return held([only], () => this.#ask(caller, ask, signal));
  }

  /** A client is pinged on its own connection. Where it cannot be reached, the gateway is the other end. */
  async ping(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (!this.#isOwn) return {};
    try {
      return await this.#client!(ask, signal);
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code !== 'ASK_REFUSED') return {};
      throw thrown;
    }
  }

  /** It came on the stream of a call that has ended. */
  async putLate(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (!this.#isOwn) throw abandoned(ask);
    return this.#client!(ask, signal);
  }

  /** The calls that can have asked it. A task and the request that waits for its result are one. */
  #suspectsOf(ask: Ask): OpenCall[] {
    const taskId = relatedTask(ask);
    const all = this.#calls.values();
    const related = taskId === undefined ? [] : all.filter((one) => one.taskId === taskId);
    if (related.length > 0) return [related.findLast(({ caller }) => caller && !caller.isGone) ?? related.at(-1)!];
    const followed = new Set(all.filter((one) => !one.isTask).map((one) => one.taskId));
    const suspects = all.filter((one) => !one.isTask || !followed.has(one.taskId));
    // Where there is one client, or none yet, it makes no difference whether a list or the gateway itself has led to it.
    return this.#isOwn || this.#isExpecting ? suspects.filter(({ mayAsk }) => mayAsk) : suspects;
  }

  #isOwners({ method }: Ask, suspects: OpenCall[]): boolean {
    if (this.#options.isShared()) return false;
    // In the place of a client that shows no forms, the call itself asks: then it has to be the right one.
    const isElicited = method === 'elicitation/create';
    if (isElicited && suspects.some(({ client }) => client?.assisted?.elicitation)) return false;
    return this.#isOwn || suspects.every(({ client }) => client && client === suspects[0]?.client);
  }

  async #putToOwner(calls: OpenCall[], ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    const caller = calls.findLast((one) => one.caller?.mayAsk && !one.caller.isGone)?.caller;
    if (!caller) return this.#putToClient(ask, signal);
    try {
      return await this.#ask(caller, ask, signal);
    } catch (thrown) {
      // The call has ended, and another one of the same client is the one that asked.
      const isOver = thrown instanceof GatewayError && thrown.code === 'CANCELLED' && !signal?.aborted;
      const isInFlight = this.#calls.values().some((one) => one.caller === caller && !caller.isGone);
      if (!isOver || isInFlight || !(this.#isOwn || this.#mayHold(ask))) throw thrown;
      return this.put(ask, signal);
    }
  }

  async #putToClient(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    if (this.#isOwn) return this.#client!(ask, signal);
    if (this.#mayHold(ask) && !signal?.aborted) return this.held.hold(ask, signal);
    if (!this.#isExpecting || signal?.aborted) throw cannotBeAsked(ask);
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    return this.put(ask, signal);
  }

  #mayHold(ask: Ask): boolean {
    return this.isAskedInCalls && !this.#options.isShared() && this.held.takes(ask);
  }

  async #ask(caller: CallOwner, ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    const questions = this.#questions;
    const question = {};
    questions.add(question);
    try {
      return await caller.put(ask, signal);
    } finally {
      questions.delete(question);
    }
  }

  #unclear({ method }: Ask, suspects: OpenCall[]): GatewayError {
    this.#wear(suspects.filter((one) => one.isAbandoned));
    return new GatewayError('ASK_UNCLEAR', { method, count: suspects.length });
  }

  #isDeclared({ method }: Ask): boolean {
    const capability = CAPABILITY_FOR[method];
    return capability === undefined || this.#options.capabilities[capability] !== undefined;
  }

  /** Where nothing may be asked, an abandoned call can do no harm; a client's own connection is the client's. */
  #wear(calls: OpenCall[]): void {
    const { elicitation, sampling, roots } = this.#options.capabilities;
    if (this.#isOwn || !this.#options.asksByRequest() || !(elicitation ?? sampling ?? roots) || calls.length === 0)
      return;
    for (const call of calls) this.#wearing.add(call);
    this.#tellWorn();
  }

  #tellWorn(): void {
    this.#options.onWorn?.(this.#wearing.size > 0 || this.#hasForgotten);
  }

  #forgetOldest(): void {
    const oldest = this.#calls.values().find((one) => one.isAbandoned)!;
    this.#hasForgotten = true;
    oldest.leave();
    this.#tellWorn();
  }

  #decide(): void {
    this.#isExpecting = false;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** A question is open: the calls that can have asked it do not time out. */
async function held<T>(calls: readonly OpenCall[], work: () => Promise<T>): Promise<T> {
  const releases = calls.map((call) => call.hold());
  try {
    return await work();
  } finally {
    for (const release of releases) release();
  }
}

function relatedTask({ params }: Ask): string | undefined {
  const meta = params?._meta;
  const related = isObject(meta) ? meta[META.relatedTask] : undefined;
  return isObject(related) && typeof related.taskId === 'string' ? related.taskId : undefined;
}

function cannotBeAsked({ method }: Ask): GatewayError {
  return new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: method });
}

function abandoned({ method }: Ask): GatewayError {
  return new GatewayError('ASK_ABANDONED', { method });
}
