// Follows one logical event stream over several connections. Invariants:
// 1. Each later connection resumes after the last event id.
// 2. The server's `retry:` is honoured, but a failing server is retried ever more slowly.
// 3. It never throws: it ends when it is done, aborted, refused, or has failed too often, and reports which.
// It knows nothing of messages: `isDone` tells it that the expected one has arrived.
import { toSignal } from '../../../shared/cancellation.ts';
import type { Abortable } from '../../../shared/cancellation.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../../shared/errors.ts';
import type { Backoff } from '../connections/backoff.ts';
import { readEvents, createStreamPosition, type EventStreamOptions, type StreamPosition } from './event-stream.ts';
import { HttpRefusal } from '../links/link.ts';
import type { ResponseBody } from './response-body.ts';

export interface FollowStreamOptions extends EventStreamOptions {
  /** The connection that is already open. Without it the first one is opened too, and needs no event id. */
  first?: ResponseBody | undefined;
  open(lastEventId: string): Promise<ResponseBody>;
  isDone(): boolean;
  /** Called when the server ends a connection and has said when to return. */
  onRelease?(retryMs: number): void;
  signal: Abortable;
  backoff: Backoff;
  /** Failures in a row before it gives up. */
  maxFailures: number;
}

export type FollowEnd = { kind: 'done' } | { kind: 'aborted' } | { kind: 'lost'; reason: string };

/** Keeps a server's `retry:` from overflowing a timer, and `retry: 0` from asking it hundreds of times a second. */
const MAX_RETRY_MS = 10 * 60_000;
const MIN_RETRY_MS = 100;
/** Statuses that may pass: the server is busy, or still holds our old connection (409). */
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
    await pause(place, options, next instanceof HttpRefusal ? next.retryAfterMs : 0);
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

const FINAL = new Set(['UPSTREAM_INVALID', 'UPSTREAM_LOGIN_NEEDED', 'UPSTREAM_LOGIN_FAILED']);

function isFinal(error: Error): boolean {
  if (error instanceof HttpRefusal) return !PASSING.has(error.status);
  return error instanceof GatewayError && FINAL.has(error.code);
}

/** A server that has sent something knows when to return; a silent one may be in trouble. */
async function pause(
  place: StreamPosition,
  { backoff, signal, first }: FollowStreamOptions,
  wantedMs = 0,
): Promise<void> {
  const backoffMs = backoff.nextMs();
  const retryMs = Math.min(Math.max(place.retryMs ?? backoffMs, wantedMs, MIN_RETRY_MS), MAX_RETRY_MS);
  const ms = place.isHeard ? retryMs : Math.max(retryMs, backoffMs);
  place.isHeard = false;
  // The process must stay alive for the answer of a request, but not for a mere listener.
  const ref = first !== undefined;
  await sleep(ms, undefined, { signal: toSignal(signal), ref }).catch(() => undefined);
}
