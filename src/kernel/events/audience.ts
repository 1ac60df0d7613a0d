// Those who watch at the moment, by what they watch, so that a call costs nothing for what nobody wants to know. Never changed: a call that has begun
// ends before those who saw it begin.
import type { AuditEvent } from '../audit.ts';
import type { CallAnswer, CallMoment } from './call-notes.ts';
import type { EventWatcher } from './event-watcher.ts';
import type { ObservedCall } from './observed-call.ts';

export type OnWatcherFailure = (watcher: EventWatcher, thrown: unknown) => void;

export class Audience {
  readonly begins: readonly EventWatcher[];
  readonly runs: readonly EventWatcher[];
  readonly moments: readonly EventWatcher[];
  readonly answers: readonly EventWatcher[];
  readonly ends: readonly EventWatcher[];
  readonly events: readonly EventWatcher[];
  /** Nobody watches calls. */
  readonly isEmpty: boolean;
  readonly #fail: OnWatcherFailure;

  constructor(watchers: readonly EventWatcher[], fail: OnWatcherFailure) {
    const having = (member: keyof EventWatcher) => watchers.filter((watcher) => watcher[member] !== undefined);
    this.begins = having('begin');
    this.runs = having('run');
    this.moments = having('moment');
    this.answers = having('answer');
    this.ends = having('end');
    this.events = having('event');
    this.isEmpty = this.begins.length + this.moments.length + this.answers.length + this.ends.length === 0;
    this.#fail = fail;
  }

  begin(call: ObservedCall): void {
    for (const watcher of this.begins) this.#guard(watcher, () => watcher.begin!(call));
  }

  run(call: ObservedCall): void {
    for (const watcher of this.runs) this.#guard(watcher, () => watcher.run!(call));
  }

  moment(call: ObservedCall, moment: CallMoment): void {
    for (const watcher of this.moments) this.#guard(watcher, () => watcher.moment!(call, moment));
  }

  answer(call: ObservedCall, answer: CallAnswer): void {
    for (const watcher of this.answers) this.#guard(watcher, () => watcher.answer!(call, answer));
  }

  end(call: ObservedCall): void {
    const { ends } = this;
    for (let index = 0; index < ends.length; index++) {
      const watcher = ends[index]!;
      try {
        const made = watcher.end!(call) as unknown; // no closure: it runs for every call
        if (made instanceof Promise) made.catch((thrown) => this.#fail(watcher, thrown));
      } catch (thrown) {
        this.#fail(watcher, thrown);
      }
    }
  }

  event(event: AuditEvent): void {
    for (const watcher of this.events) this.#guard(watcher, () => watcher.event!(event));
  }

  #guard(watcher: EventWatcher, work: () => unknown): void {
    try {
      const made = work();
      if (made instanceof Promise) made.catch((thrown) => this.#fail(watcher, thrown));
    } catch (thrown) {
      this.#fail(watcher, thrown);
    }
  }
}
