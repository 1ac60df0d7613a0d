// Reads event streams: one connection, or one logical stream over several. The end of a connection is never an error here (closed, broken or aborted):
// the reader of the events knows whether the stream was complete.
import { setTimeout as sleep } from 'node:timers/promises';
import { toSignal } from '../../../kernel/base/cancellation.ts';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { UNCOUNTED_BYTES } from '../../../kernel/base/held-bytes.ts';
import type { HeldShare } from '../../../kernel/base/held-bytes.ts';
import { PacedReader } from '../../wire/paced-reader.ts';
import { SseReader } from '../../wire/sse.ts';
import type { SseEvent } from '../../wire/sse.ts';
import type { Backoff } from '../backoff.ts';
import type { Inbox } from '../links/inbox.ts';
import { OVER_BUDGET } from './http-body.ts';
import { mediaType, toRefusal } from './http-response.ts';
import type { ResponseBody } from './http-body.ts';
import type { HttpClient, UpstreamRequest } from './http-client.ts';
import { HttpRefusal } from './http-refusal.ts';

/** The position in a stream, carried from one connection to the next. */
interface StreamPosition {
  lastEventId: string;
  retryMs: number | undefined;
  /** Whether the server has sent anything since this was last set to false. */
  isHeard: boolean;
}

interface EventStreamOptions {
  /** For messages. */
  server: string;
  inbox: Inbox;
  /** Gets events of all types, `message` by default; an event without data only carries an id. */
  onEvent: (event: SseEvent) => void;
  /** An event was skipped, or the stream ended, because they are too large. Default: the inbox reports it. */
  onMissed?: (why: string) => void;
}

/** Rejects with HttpRefusal, with UPSTREAM_INVALID if the response is not an event stream, or with the error of `http`. */
export async function openEventStream(
  http: HttpClient,
  request: Omit<UpstreamRequest, 'method'>,
): Promise<ResponseBody> {
  const headers = { ...request.headers, accept: 'text/event-stream' };
  const response = await http.request({ ...request, method: 'GET', headers });
  if (response.statusCode >= 300) throw await toRefusal(response);
  if (mediaType(response) === 'text/event-stream') return response.body;
  // Not `dump`: the response may be a download of any length.
  response.body.destroy();
  const reason = `expected an event stream, got ${mediaType(response) || 'no content type'}`;
  throw new GatewayError('UPSTREAM_INVALID', { server: http.name, reason });
}

/** Reads one connection. Resolves when it ends; never rejects. */
export function readEvents(
  body: ResponseBody,
  { server, inbox, onEvent, onMissed }: EventStreamOptions,
  place = createPosition(),
): Promise<void> {
  const reader = new SseReader({
    maxBytes: inbox.maxBytes,
    onOversize: () => {
      inbox.oversize();
      onMissed?.(`an event is larger than ${inbox.maxBytes} bytes`);
    },
    onEndless: () => giveUp(),
    onEvent: (event) => {
      place.isHeard = true;
      if (event.data !== '') onEvent(event);
    },
    onRetry: (ms) => {
      place.isHeard = true;
      place.retryMs = ms;
    },
  });
  const onRead = (): void => {
    if (reader.lastEventId !== '') place.lastEventId = reader.lastEventId;
    if (reader.heldBytes > UNCOUNTED_BYTES) holding ??= inbox.hold(server, cut);
    holding?.set(reader.heldBytes);
  };
  const paced = new PacedReader({ reader, inbox, source: body, onRead });
  const giveUp = (): void => {
    paced.drop();
    body.destroy();
  };
  const cut = (): void => {
    if (onMissed) onMissed(OVER_BUDGET);
    else inbox.garbage(OVER_BUDGET);
    giveUp();
  };
  let holding: HeldShare | undefined;
  return new Promise((resolve) => {
    body.read({
      onData: (chunk) => paced.push(chunk),
      onEnd() {
        paced.end();
        holding?.release();
        resolve();
      },
    });
  });
}

function createPosition(): StreamPosition {
  return { lastEventId: '', retryMs: undefined, isHeard: false };
}

interface FollowStreamOptions extends EventStreamOptions {
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

type FollowEnd = { kind: 'done' } | { kind: 'aborted' } | { kind: 'lost'; reason: string };

/** Keeps a server's `retry:` from overflowing a timer, and `retry: 0` from asking it hundreds of times a second. */
const MAX_RETRY_MS = 10 * 60_000;
const MIN_RETRY_MS = 100;

/**
 * Follows one logical stream over several connections. It knows nothing of messages: `isDone` tells it that the expected one has arrived.
 * 1. Each later connection resumes after the last event id.
 * 2. The server's `retry:` is honoured, but a failing server is retried ever more slowly.
 * 3. It never throws: it ends when it is done, aborted, refused, or has failed too often, and reports which.
 */
export async function followStream(options: FollowStreamOptions): Promise<FollowEnd> {
  const { signal, backoff } = options;
  const place = createPosition();
  let reason = 'it ended too early';
  let next = options.first ?? (await tryOpen(place, options));
  for (;;) {
    if (next instanceof Error) reason = next.message;
    else await readEvents(next, options, place);
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

/** Statuses that may pass: the server is busy, or still holds our old connection (409). */
const PASSING = new Set([408, 409, 425, 429, 500, 502, 503, 504]);

const FINAL = new Set([
  'UPSTREAM_INVALID',
  'UPSTREAM_LOGIN_NEEDED',
  'UPSTREAM_LOGIN_FAILED',
  'UPSTREAM_ISSUER_CHANGED',
]);

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
