// Opens and reads one connection of an event stream. Its end is never an error here (closed, broken or aborted): the reader of
// the events knows whether the stream was complete.
import { PacedReader } from '../../codec/paced-reader.ts';
import { SseReader, type SseEvent } from '../../codec/sse-reader.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { UNCOUNTED_BYTES, type HeldShare } from '../../../shared/held-bytes.ts';
import { mediaType, toRefusal } from './http-body.ts';
import type { HttpClient, UpstreamRequest } from './http-client.ts';
import type { ResponseBody } from './response-body.ts';

/** The position in a stream, carried from one connection to the next. */
export interface StreamPosition {
  lastEventId: string;
  retryMs: number | undefined;
  /** Whether the server has sent anything since this was last set to false. */
  isHeard: boolean;
}

export interface EventStreamOptions {
  /** Gets events of all types, `message` by default; an event without data only carries an id. */
  onEvent(event: SseEvent): void;
  onOversize(): void;
  /** The stream was ended, because the process holds too many bytes. */
  onOverBudget(): void;
  hold(cut: () => void): HeldShare;
  /** Counts the answers of the server. */
  inbox: { readonly answers: number };
  maxBytes: number;
}

export function createStreamPosition(): StreamPosition {
  return { lastEventId: '', retryMs: undefined, isHeard: false };
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

/** Resolves when the connection ends; never rejects. */
export function readEvents(body: ResponseBody, place: StreamPosition, options: EventStreamOptions): Promise<void> {
  const reader = new SseReader({
    maxBytes: options.maxBytes,
    onOversize: () => options.onOversize(),
    onEndless: () => giveUp(),
    onEvent: (event) => {
      place.isHeard = true;
      if (event.data !== '') options.onEvent(event);
    },
    onRetry: (ms) => {
      place.isHeard = true;
      place.retryMs = ms;
    },
  });
  const onRead = (): void => {
    if (reader.lastEventId !== '') place.lastEventId = reader.lastEventId;
    if (reader.heldBytes > UNCOUNTED_BYTES) holding ??= options.hold(cut);
    holding?.set(reader.heldBytes);
  };
  const paced = new PacedReader({ reader, inbox: options.inbox, source: body, onRead });
  const giveUp = (): void => {
    paced.drop();
    body.destroy();
  };
  const cut = (): void => {
    options.onOverBudget();
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
