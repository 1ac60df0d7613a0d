// Ends the service of a port so that nobody who is served loses an answer. First all goes on as before, new calls included, until the calls that were
// there at the beginning have ended. Then no new connection is accepted, and each open one is closed as soon as nothing is in flight on it.
// 1. A call that asks its user needs new connections for the answer, so the port stays open for as long as one of the first calls is there.
// 2. Both parts together take `drainMs` at most. The owner closes the port then, which answers the calls that are left with an error.
import { ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import { pause } from '../../kernel/base/timing.ts';

/** The calls in flight, and those that wait for an answer of their user. A call is the same object until it ends. */
export type ListCalls = () => Iterable<object>;

export interface DrainedPort {
  readonly calls: ListCalls;
  /** Absent where the port belongs to somebody else. */
  stopAccepting?(): void;
  /** Closes the streams and connections without a call. Returns how many connections are left to wait for. */
  closeIdle(): number;
}

/** Calls end in many places, so they are looked for. */
const LOOK_EVERY_MS = 25;

export async function drainPort(
  port: DrainedPort,
  { clock, limits }: { clock: Clock; limits: Pick<Limits, 'drainMs'> },
): Promise<void> {
  const end = ticksOf(clock) + limits.drainMs;
  const hasTime = (): boolean => ticksOf(clock) < end;
  const first = new Set(port.calls());
  const awake = setInterval(() => {}, LOOK_EVERY_MS); // the timers of the clock do not keep the process alive
  try {
    while (hasTime() && hasAnyOf(first, port.calls())) await pause(clock, LOOK_EVERY_MS);
    port.stopAccepting?.();
    while (port.closeIdle() > 0 && hasTime()) await pause(clock, LOOK_EVERY_MS);
  } finally {
    clearInterval(awake);
  }
}

function hasAnyOf(first: ReadonlySet<object>, calls: Iterable<object>): boolean {
  for (const call of calls) if (first.has(call)) return true;
  return false;
}

/** When a client whose stream was ended should come back: spread, so that not all of them come at once. */
export function comeBackMs(): number {
  return Math.ceil(Math.random() * 2000);
}
