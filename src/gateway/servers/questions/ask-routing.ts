// Decides which client gets a question that a server asks on a connection.
// 1. A question that names its call or task goes there.
// 2. Any other question comes from one of the calls that the server has not answered. A call that was cancelled, timed out or
//    lost its client is one of them until the server answers it, because its handler may still run. So is a task until it ends.
// 3. If exactly one call can have asked, its client gets the question. If that client has given up, or several calls can have
//    asked, the question is refused at once: the gateway neither guesses nor waits for other calls to end.
// 4. A connection with a single client that is asked directly cannot reach the wrong person, so that client is always asked.
// 5. On the own connection of a client that is asked only during calls, a question for roots waits for its next call.
// What is learned about a server's calls (open-call.ts) decides which connection a call gets next time.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Ask, ClientView } from '../../../kernel/exchange.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { CAPABILITY_BY_ASK, ELICIT_INPUT, LIST_ROOTS } from '../../../kernel/methods.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { outcomeOf } from '../../../kernel/base/cancelled-error.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { LinkedList } from '../../../kernel/containers/linked-list.ts';
import { META } from '../../../mcp/eras/meta.ts';
import type { CallOwner, OpenCall } from './open-call.ts';
import type { AskHandler } from './open-call.ts';

interface AskRoutingOptions {
  /** The capabilities declared to the server. */
  capabilities: ClientCapabilities;
  isShared: () => boolean;
  /** Stateless servers ask in their answers instead, which name the call. */
  asksByRequest: () => boolean;
  clock: Clock;
  /** Whether a client is about to come that owns this connection and can be asked outside of calls. */
  isExpecting: boolean;
  /** Called when the server has asked without naming the call. */
  onUnnamed?: () => void;
  /** Called when an abandoned call makes the connection unusable for calls that may ask, or no longer does. */
  onWorn?: (isWorn: boolean) => void;
}

/** How many abandoned calls are remembered one by one. */
const MAX_ABANDONED = 1000;

export class AskRouting {
  readonly #options: AskRoutingOptions;
  /** The calls that the server has not answered. */
  readonly #calls = new LinkedList<OpenCall>();
  /** The client of the last answered call. Earlier messages may arrive after that answer, on another stream. */
  latest: ClientView | undefined;
  /** Abandoned calls that make the connection worth replacing. */
  #wearing = new Set<OpenCall>();
  /** There were more abandoned calls than are remembered. */
  #hasForgotten = false;
  #questions = new Set<object>();
  /** Open questions of every kind, also those that name their call or have waited for one. */
  #asking = 0;
  readonly #waiting = new Set<() => void>();
  /** Asks the client that owns this connection, outside of calls. */
  #askOwnClient: AskHandler | undefined;
  #isExpecting: boolean;
  /** The client that owns this connection can be asked during its calls only. */
  isAskedInCalls = false;
  /** Questions that wait for the next of these calls. */
  readonly postponed: PostponedQuestions;
  /** Called when a question opens. */
  onAsking: (() => void) | undefined;

  constructor(options: AskRoutingOptions) {
    this.#options = options;
    this.postponed = new PostponedQuestions(options.clock);
    this.#isExpecting = options.isExpecting;
  }

  /** Whether a client is about to come that can be asked outside of calls. */
  get isExpecting(): boolean {
    return this.#isExpecting;
  }

  /** Whether questions wait for that client. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  get #isOwn(): boolean {
    return this.#askOwnClient !== undefined && !this.#options.isShared();
  }

  /** Whether the call that has this connection to itself has an open question. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  /** Whether the questions of one more call could be told apart. */
  get takesCalls(): boolean {
    return this.#questions.size === 0 && this.#wearing.size === 0 && !this.#hasForgotten;
  }

  /** Whether a call is open whose client can be asked. */
  get hasAskable(): boolean {
    return this.#calls.values().some(({ mayAsk }) => mayAsk);
  }

  /** Whether the server has answered every call. */
  get isFree(): boolean {
    return this.#calls.isEmpty && !this.#hasForgotten;
  }

  /** Whether the server runs tasks for answered calls. */
  get hasTasks(): boolean {
    return this.#calls.values().some((one) => one.isTask);
  }

  /** The clients of all unanswered calls. */
  get clients(): Set<ClientView | undefined> {
    return new Set(this.#calls.values().map(({ client }) => client));
  }

  /**
   * The only call with a waiting caller, if all unanswered calls belong to one principal. A stateless server never answers a
   * cancelled call; without this, one cancellation would silence it for good.
   */
  get soleOfPrincipal(): CallOwner | undefined {
    const calls = this.#calls.values();
    const isOfOne = calls.every(({ client }) => client && client.principal === calls[0]?.client?.principal);
    const waiting = calls.filter(({ caller }) => caller && !caller.isGone);
    return isOfOne && waiting.length === 1 && !this.#hasForgotten ? waiting[0]?.caller : undefined;
  }

  /** The caller of the only unanswered call; undefined if there are several, or the caller is gone. */
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

  /** Called when the caller no longer waits for the answer. */
  abandon(call: OpenCall, isQuiet: boolean): void {
    if (!this.#calls.has(call)) return;
    // Its questions go to its client anyway, like those of the client's other calls.
    if (this.#isOwn && call.client && !call.client.assisted) return void this.#calls.delete(call);
    if (!isQuiet && !call.isUnsuspected) this.#wear([call]);
    const abandoned = this.#calls.values().filter((one) => one.isAbandoned);
    if (abandoned.length > MAX_ABANDONED) this.#forgetOldest();
  }

  /** Also ends the abandoned requests for the task's result. */
  endTask(taskId: string): void {
    for (const call of this.#calls.values()) {
      if (call.taskId === taskId && (call.isTask || call.isAbandoned)) call.leave();
    }
    if (!this.hasTasks && this.#wearing.size > 0) this.#tellWorn();
  }

  /** Called when the connection is lost, and all the server's work with it. */
  reset(): void {
    this.#calls.clear();
    this.latest = undefined;
    this.#wearing.clear();
    this.#questions = new Set();
    this.#hasForgotten = false;
  }

  /** Called when the owner of the connection is present and can be asked outside of calls. */
  attend(askOwnClient: AskHandler): void {
    this.#askOwnClient = askOwnClient;
    this.#decide();
  }

  /** Called when no client will come, or it has left. */
  dismiss(): void {
    this.#askOwnClient = undefined;
    this.#decide();
  }

  /** For a call that has the connection to itself: counts its open questions, during which it is not at work. */
  counted(handler: AskHandler): AskHandler {
    return async (ask, signal) => {
      this.#asking++;
      this.onAsking?.();
      try {
        return await handler(ask, signal);
      } finally {
        this.#asking--;
      }
    };
  }

  /** Asks the client that the question belongs to. */
  async route(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    const suspects = this.#suspectsOf(ask);
    if (suspects.length === 0 && !this.#hasForgotten) return this.#askClient(ask, signal);
    const isOwners = this.#isOwners(ask, suspects);
    if (!isOwners && !this.#isDeclared(ask)) throw cannotBeAsked(ask);
    const isLesson = !isOwners || (suspects.length === 1 && ask.method === ELICIT_INPUT);
    for (const call of suspects) call.learnUnnamed(isLesson);
    this.#options.onUnnamed?.();
    if (isOwners) return withoutTimeouts(suspects, () => this.#askOwner(suspects, ask, signal));
    const [only] = suspects;
    if (suspects.length > 1 || this.#hasForgotten || !only) throw this.#unclear(ask, suspects);
    if (!only.caller || only.caller.isGone) throw abandoned(ask);
    const { caller } = only;
    return withoutTimeouts([only], () => this.#ask(caller, ask, signal));
  }

  /** Pings the client that owns the connection. If it cannot be reached, the gateway answers. */
  async ping(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (!this.#isOwn) return {};
    try {
      return await this.#askOwnClient!(ask, signal);
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code !== 'ASK_REFUSED') return {};
      throw thrown;
    }
  }

  /** For a question on the stream of a call that has ended. */
  async routeLate(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (!this.#isOwn) throw abandoned(ask);
    return this.#askOwnClient!(ask, signal);
  }

  /** The calls that can have asked. A task and the request that waits for its result count as one. */
  #suspectsOf(ask: Ask): OpenCall[] {
    const taskId = relatedTask(ask);
    const all = this.#calls.values();
    const related = taskId === undefined ? [] : all.filter((one) => one.taskId === taskId);
    if (related.length > 0) return [related.findLast(({ caller }) => caller && !caller.isGone) ?? related.at(-1)!];
    const followed = new Set(all.filter((one) => !one.isTask).map((one) => one.taskId));
    const suspects = all.filter((one) => !one.isTask || !followed.has(one.taskId));
    // With one client at most, it does not matter whether a list or the gateway itself caused the question.
    return this.#isOwn || this.#isExpecting ? suspects.filter(({ mayAsk }) => mayAsk) : suspects;
  }

  #isOwners({ method }: Ask, suspects: OpenCall[]): boolean {
    if (this.#options.isShared()) return false;
    // For a client without forms the call itself shows the question, so it has to be the right call.
    const isElicited = method === ELICIT_INPUT;
    if (isElicited && suspects.some(({ client }) => client?.assisted?.elicitation)) return false;
    return this.#isOwn || suspects.every(({ client }) => client && client === suspects[0]?.client);
  }

  async #askOwner(calls: OpenCall[], ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    const caller = calls.findLast((one) => one.caller?.mayAsk && !one.caller.isGone)?.caller;
    if (!caller) return this.#askClient(ask, signal);
    try {
      return await this.#ask(caller, ask, signal);
    } catch (thrown) {
      const outcome = signal?.aborted ? undefined : outcomeOf(thrown);
      const isInFlight = this.#calls.values().some((one) => one.caller === caller && !caller.isGone);
      // If the call was answered first, another call of the same client asked. A call that was cancelled took its question with it.
      const isOpen = this.#isOwn ? outcome === 'answered' : outcome !== undefined && this.#mayPostpone(ask);
      if (!isOpen || isInFlight) throw thrown;
      return this.route(ask, signal);
    }
  }

  async #askClient(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    if (this.#isOwn) return this.#askOwnClient!(ask, signal);
    if (this.#mayPostpone(ask) && !signal?.aborted) return this.postponed.postpone(ask, signal);
    if (!this.#isExpecting || signal?.aborted) throw cannotBeAsked(ask);
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    return this.route(ask, signal);
  }

  #mayPostpone(ask: Ask): boolean {
    return this.isAskedInCalls && !this.#options.isShared() && this.postponed.takes(ask);
  }

  async #ask(caller: CallOwner, ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    const questions = this.#questions;
    const question = {};
    questions.add(question);
    try {
      return await caller.ask(ask, signal);
    } finally {
      questions.delete(question);
    }
  }

  #unclear({ method }: Ask, suspects: OpenCall[]): GatewayError {
    this.#wear(suspects.filter((one) => one.isAbandoned));
    return new GatewayError('ASK_UNCLEAR', { method, count: suspects.length });
  }

  #isDeclared({ method }: Ask): boolean {
    const capability = CAPABILITY_BY_ASK[method];
    return capability === undefined || this.#options.capabilities[capability] !== undefined;
  }

  /** Marks the connection as worn, unless nothing may be asked on it or it belongs to one client. */
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

/** Keeps the calls that can have asked from timing out while a question is open. */
async function withoutTimeouts<T>(calls: readonly OpenCall[], work: () => Promise<T>): Promise<T> {
  const resumes = calls.map((call) => call.pauseTimeout());
  try {
    return await work();
  } finally {
    for (const resume of resumes) resume();
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

/** How long the official SDKs wait for an answer. */
const MAX_WAIT_MS = 60_000;
const MAX_POSTPONED = 16;

/**
 * Postpones questions that a server asks before any call can carry them, such as for roots at its start. A stateless client can be asked only during its
 * calls, so the question waits for the next one.
 */
class PostponedQuestions {
  readonly #clock: Clock;
  readonly #postponed = new Set<(handler: AskHandler | undefined) => Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#postponed.size === 0;
  }

  /** Postpones only questions for roots: a form that appears during an unrelated call would confuse its user. */
  takes({ method }: Ask): boolean {
    return method === LIST_ROOTS && this.#postponed.size < MAX_POSTPONED;
  }

  /** Rejects when no call comes in time, or when the client refuses. */
  postpone(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const settle = async (handler: AskHandler | undefined): Promise<void> => {
        this.#postponed.delete(settle);
        stop();
        signal?.removeEventListener('abort', giveUp);
        if (!handler) return reject(cannotBeAsked(ask));
        await handler(ask, signal).then(resolve, reject);
      };
      const giveUp = (): void => void settle(undefined);
      const stop = this.#clock.after(MAX_WAIT_MS, giveUp);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#postponed.add(settle);
    });
  }

  /** Asks all postponed questions as part of a call. Resolves when the answers have been sent to the server. */
  async askAll(handler: AskHandler): Promise<void> {
    await Promise.all([...this.#postponed].map((settle) => settle(handler)));
    // The answers pass through a few promises first; the call must be sent after them.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
