// What happens at a gateway, for those who have to know. A call of a client has a begin and an end, and moments in between; what is worth proving beside that
// is an event by itself. Parts tell the hub, watchers subscribe to it, and neither knows the other.
// 1. Nothing is made for watchers that are not there.
// 2. A watcher that throws ends neither a call nor the process.
// 3. A call ends once, before all that have seen it begin: the first answer of a call that waits for a person is only a question (`ending`).
import type { AuditEvent } from '../audit.ts';
import { systemClock, ticksOf } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { GatewayError, ProtocolError, toReadable } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { LinkedList } from '../containers/linked-list.ts';
import type { Exchange } from '../exchange.ts';
import { isObject } from '../message.ts';
import { methodsWhere } from '../methods.ts';
import { fieldOf } from '../raw/raw-object.ts';
import type { ResultObject } from '../raw/raw-object.ts';
import { hasEnded, readSuspended } from '../target.ts';
import type { TaskState } from '../target.ts';
import { Audience } from './audience.ts';
import type { CallAnswer } from './call-notes.ts';
import type { EventWatcher } from './event-watcher.ts';
import { ObservedCall } from './observed-call.ts';

/** Requests that only look. */
const QUIET: ReadonlySet<string> = new Set(methodsWhere(({ quiet }) => quiet));
/** A person has said no: nothing has failed. */
const DECLINED = 'declined';
/** How often running calls are checked. */
const RUNNING_MS = 5000;

interface EventHubOptions {
  clock?: Clock | undefined;
  log: Log;
}

export class EventHub {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #watchers = new Set<EventWatcher>();
  /** Of every request, and of those that do more than look. */
  #all: Audience;
  #most: Audience;
  /** No Set: its old tables would keep calls that have ended, see decision 18. */
  readonly #open = new LinkedList<ObservedCall>();
  #isLooking = false;

  constructor({ clock = systemClock, log }: EventHubOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#all = this.#most = this.#gather(() => true);
  }

  /** Returns how to stop. */
  watch(watcher: EventWatcher): () => void {
    const change = (): void => {
      this.#all = this.#gather(({ seesAll }) => seesAll === true);
      this.#most = this.#gather(() => true);
    };
    this.#watchers.add(watcher);
    change();
    return () => {
      if (this.#watchers.delete(watcher)) change();
    };
  }

  /** Whether anybody hears of events. */
  get hasListeners(): boolean {
    return this.#most.events.length > 0;
  }

  /** Something worth proving has happened. */
  tell(event: AuditEvent): void {
    this.#most.event(event);
  }

  /** Something that may happen only if it can be proved: throws if a watcher cannot take it. */
  prove(event: AuditEvent): void {
    for (const watcher of this.#most.events) {
      const made = watcher.event!(event) as unknown;
      if (made instanceof Promise) made.catch((thrown) => this.#fail(watcher, thrown));
    }
  }

  /** A client has called; undefined if nobody watches. `server`: the server of every call, if there is only one. */
  begin(exchange: Exchange, server?: string): ObservedCall | undefined {
    const audience = QUIET.has(exchange.method) ? this.#all : this.#most;
    if (audience.isEmpty) return undefined;
    const call = new ObservedCall(exchange, { begun: ticksOf(this.#clock), audience, server });
    exchange.observed = call;
    audience.begin(call);
    return call;
  }

  /** Waits for its answer. */
  follow(call: ObservedCall, answer: Promise<ResultObject>): void {
    this.#open.add(call);
    if (!this.#isLooking) this.#look();
    answer.then(
      (result) => this.answered(call, result),
      (thrown: unknown) => this.failed(call, thrown),
    );
  }

  answered(call: ObservedCall, result: ResultObject): void {
    if (call.audience.answers.length > 0) this.#tellAnswer(call, { result });
    if (!this.#goesOn(call)) this.#end(call, toOutcome(result, call));
  }

  failed(call: ObservedCall, thrown: unknown): void {
    if (call.audience.answers.length > 0) this.#tellAnswer(call, { thrown });
    if (!this.#goesOn(call)) this.#end(call, outcomeOf(thrown, call));
  }

  #tellAnswer(call: ObservedCall, answer: CallAnswer): void {
    call.answeredMs = ticksOf(this.#clock) - call.begun;
    call.audience.answer(call, answer);
  }

  #goesOn(call: ObservedCall): boolean {
    const { ending } = call;
    if (!ending) return false;
    call.ending = undefined;
    const settle = (outcome: string): void => {
      if (!this.#goesOn(call)) this.#end(call, outcome);
    };
    ending.then(
      (result) => settle(toOutcome(result, call)),
      (thrown: unknown) => settle(outcomeOf(thrown, call)),
    );
    return true;
  }

  #end(call: ObservedCall, outcome: string): void {
    this.#open.delete(call);
    call.outcome = outcome;
    call.ms = this.#msOf(call);
    call.audience.end(call);
  }

  #msOf({ begun }: ObservedCall): number {
    return Math.round((ticksOf(this.#clock) - begun) * 10) / 10;
  }

  #look(): void {
    this.#isLooking = true;
    this.#clock.after(RUNNING_MS, () => this.#tellLong());
  }

  #tellLong(): void {
    for (const call of this.#open.values()) {
      if (call.isLong || ticksOf(this.#clock) - call.begun < RUNNING_MS) continue;
      call.isLong = true;
      call.ms = this.#msOf(call);
      call.audience.run(call);
    }
    this.#isLooking = false;
    if (!this.#open.isEmpty) this.#look();
  }

  #gather(isWanted: (watcher: EventWatcher) => boolean): Audience {
    return new Audience([...this.#watchers].filter(isWanted), (watcher, thrown) => this.#fail(watcher, thrown));
  }

  #fail({ what }: EventWatcher, thrown: unknown): void {
    this.#log.error({ callback: what, error: toReadable(thrown) }, 'callback.failed');
  }
}

/** Questions and tasks are not results yet. */
function toOutcome(result: ResultObject, { isDeclined, exchange: { task: allowed } }: ObservedCall): string {
  if (fieldOf(result, 'isError') === true) return isDeclined ? DECLINED : 'tool_error';
  if (readSuspended(result)) return 'input_required';
  const task = allowed && fieldOf(result, 'task');
  return isObject(task) && !hasEnded(task as unknown as TaskState) ? 'working' : 'ok';
}

function outcomeOf(thrown: unknown, { isDeclined }: ObservedCall): string {
  if (isDeclined && thrown instanceof GatewayError && thrown.code === 'NOT_APPROVED') return DECLINED;
  if (thrown instanceof ProtocolError) return `server_error ${thrown.code}`;
  return thrown instanceof GatewayError ? thrown.code : 'INTERNAL';
}
