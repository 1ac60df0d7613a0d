// Follows one logical event stream over as many connections as it takes. Invariants:
// 1. A connection after the first asks for what came after the last event id that was seen.
// 2. The server's `retry:` is honoured; a server that fails is asked ever more rarely all the same.
// 3. It never throws: it ends when it is done, aborted, refused, or has failed too often, and says which.
// It knows nothing of messages; `isDone` is how it learns that the awaited one has come.
import { toSignal } from '../../../shared/cancellation.ts';
import type { Abortable } from '../../../shared/cancellation.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../../shared/errors.ts';
import type { Backoff } from '../connections/backoff.ts';
import { readEvents, createStreamPosition, type EventStreamOptions, type StreamPosition } from './event-stream.ts';
import { HttpRefusal } from '../links/link.ts';
import type { ResponseBody } from './response-body.ts';

export interface FollowStreamOptions extends EventStreamOptions {
  /** The connection that is already open. Without it, the first is opened like the others, and needs no event id. */
  first?: ResponseBody | undefined;
  open(lastEventId: string): Promise<ResponseBody>;
  isDone(): boolean;
  /** The connection ended as the server wished: it said when to come back. */
  onRelease?(retryMs: number): void;
  signal: Abortable;
  backoff: Backoff;
  /** Failures in a row until it gives up. */
  maxFailures: number;
}

export type FollowEnd = { kind: 'done' } | { kind: 'aborted' } | { kind: 'lost'; reason: string };

/** A server may ask for patience, but not for so much that a timer overflows. */
const MAX_RETRY_MS = 10 * 60_000;
/** Statuses of a server that may think otherwise later: it is busy, or still holds our old connection (409). */
const PASSING = new Set([408, 409, 425, 429, 500, 502, 503, 504]);

export async function followStream(options: FollowStreamOptions): Promise<FollowEnd> {
  const { signal, backoff } = options;
  const place = createStreamPosition();
  let reason = 'it ended too early';
  let next = options.first ?? (await tryOpen(place, options));
  for (;;) {
    if (next instanceof Error) reason = next.message;
    else await readEvents(next, place, options);
    if (signal.aborted) return { kind: 'aborted' };
    if (options.isDone()) return { kind: 'done' };
    if (next instanceof Error && isFinal(next)) return { kind: 'lost', reason };
    if (options.first !== undefined && place.lastEventId === '') return { kind: 'lost', reason };
    if (place.isHeard) backoff.reset();
    if (backoff.failures >= options.maxFailures) return { kind: 'lost', reason };
    if (!(next instanceof Error) && place.retryMs !== undefined) options.onRelease?.(place.retryMs);
    await pause(place, options);
    next = await tryOpen(place, options);
  }
}

async function tryOpen(place: StreamPosition, options: FollowStreamOptions): Promise<ResponseBody | Error> {
  try {
    return await options.open(place.lastEventId);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function isFinal(error: Error): boolean {
  if (error instanceof HttpRefusal) return !PASSING.has(error.status);
  return error instanceof GatewayError && error.code === 'UPSTREAM_INVALID';
}

/** A server that was heard knows when to come back; one that was not heard may be in trouble. */
async function pause(place: StreamPosition, { backoff, signal, first }: FollowStreamOptions): Promise<void> {
  const backoffMs = backoff.nextMs();
  const retryMs = Math.min(place.retryMs ?? backoffMs, MAX_RETRY_MS);
  const ms = place.isHeard ? retryMs : Math.max(retryMs, backoffMs);
  place.isHeard = false;
  // Somebody waits for the answer of a request, so the process must not end meanwhile; for a mere listener it may.
  const ref = first !== undefined;
  await sleep(ms, undefined, { signal: toSignal(signal), ref }).catch(() => undefined);
}
