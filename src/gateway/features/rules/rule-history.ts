// What each principal, and each session, has read: one time per mark, set when the call starts, so that calls in flight count. This is the history
// of one gateway; shared-rule-history.ts has that of several.
// The table is bounded. Marks of a forgotten entry count for everybody until they are too old, so nobody sheds a mark by filling it.
import type { ClientView } from '../../../kernel/exchange.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { nameOfPrincipal } from './rule.ts';
import type { RuleMark } from './rule.ts';

export type MarkTimes = Partial<Record<RuleMark, number>>;

/** Which earlier reads count. */
export interface HistorySpan {
  per: 'principal' | 'session';
  withinMs: number;
}

export interface RuleHistory {
  /** Reads what this client has done, where that is kept elsewhere: before `has`, for each request. Undefined: nothing has to be read. */
  load(client: ClientView): Promise<void> | undefined;
  /** Undefined: it is noted. If this rejects, the call must not be made. */
  note(client: ClientView, marks: readonly RuleMark[]): Promise<void> | undefined;
  /** Whether all of these were read. A client without a session is known by its principal alone. Throws if that cannot be known. */
  has(client: ClientView, marks: readonly RuleMark[], span: HistorySpan): boolean;
}

const MAX_KEPT = 10_000;

export class OwnRuleHistory implements RuleHistory {
  readonly #clock: Clock;
  readonly #read: BoundedMap<string, MarkTimes>;
  /** Of all that were forgotten. */
  readonly #forgotten: MarkTimes = {};

  constructor(clock: Clock, maxKept: number = MAX_KEPT) {
    this.#clock = clock;
    this.#read = new BoundedMap(maxKept, (times) => merge(this.#forgotten, times));
  }

  load(): undefined {}

  note(client: ClientView, marks: readonly RuleMark[]): undefined {
    const now = ticksOf(this.#clock);
    for (const key of [principalKey(client), sessionKey(client)]) {
      if (key === undefined) continue;
      const times = this.#read.getOrCreate(key, () => ({ ...this.#forgotten }));
      for (const mark of marks) times[mark] = now;
    }
  }

  has(client: ClientView, marks: readonly RuleMark[], { per, withinMs }: HistorySpan): boolean {
    const key = (per === 'session' ? sessionKey(client) : undefined) ?? principalKey(client);
    const times = this.#read.peek(key);
    const since = ticksOf(this.#clock) - withinMs;
    return marks.every((mark) => ((times ?? this.#forgotten)[mark] ?? -Infinity) > since);
  }
}

/** Callers without a login count as one: each connection has its own principal, and anybody can open another connection. */
export function principalKey({ principal }: ClientView): string {
  return `p ${nameOfPrincipal(principal)}`;
}

export function sessionKey({ principal, connection }: ClientView): string | undefined {
  return connection?.session === undefined ? undefined : `s ${connection.session} ${principal}`;
}

function merge(into: MarkTimes, times: MarkTimes): void {
  for (const [mark, at] of Object.entries(times) as [RuleMark, number][]) into[mark] = Math.max(into[mark] ?? 0, at);
}
