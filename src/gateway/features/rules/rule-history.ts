// What each principal, and each session, has read: one time per mark, set when the call starts, so that calls in flight count.
// The table is bounded. Marks of a forgotten entry count for everybody until they are too old, so nobody sheds a mark by filling it.
import type { ClientView } from '../../../kernel/exchange.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { nameOfPrincipal } from './rule.ts';
import type { RuleMark } from './rule.ts';

type Times = Partial<Record<RuleMark, number>>;

const MAX_KEPT = 10_000;

export class RuleHistory {
  readonly #clock: Clock;
  readonly #read: BoundedMap<string, Times>;
  /** Of all that were forgotten. */
  readonly #forgotten: Times = {};

  constructor(clock: Clock, maxKept: number = MAX_KEPT) {
    this.#clock = clock;
    this.#read = new BoundedMap(maxKept, (times) => merge(this.#forgotten, times));
  }

  note(client: ClientView, marks: readonly RuleMark[]): void {
    const now = ticksOf(this.#clock);
    for (const key of [principalKey(client), sessionKey(client)]) {
      if (key === undefined) continue;
      const times = this.#read.getOrCreate(key, () => ({ ...this.#forgotten }));
      for (const mark of marks) times[mark] = now;
    }
  }

  /** Whether all of these were read. A client without a session is known by its principal alone. */
  has(
    client: ClientView,
    marks: readonly RuleMark[],
    { per, withinMs }: { per: 'principal' | 'session'; withinMs: number },
  ): boolean {
    const key = (per === 'session' ? sessionKey(client) : undefined) ?? principalKey(client);
    const times = this.#read.peek(key);
    const since = ticksOf(this.#clock) - withinMs;
    return marks.every((mark) => ((times ?? this.#forgotten)[mark] ?? -Infinity) > since);
  }
}

/** Callers without a login count as one: each connection has its own principal, and anybody can open another connection. */
function principalKey({ principal }: ClientView): string {
  return `p ${nameOfPrincipal(principal)}`;
}

function sessionKey({ principal, connection }: ClientView): string | undefined {
  return connection?.session === undefined ? undefined : `s ${connection.session} ${principal}`;
}

function merge(into: Times, times: Times): void {
  for (const [mark, at] of Object.entries(times) as [RuleMark, number][]) into[mark] = Math.max(into[mark] ?? 0, at);
}
