// The interface of one connection to a server, independent of eras. Each link guarantees:
// 1. `onMessage` gets every message once, in the order in which the server wrote it on its stream.
// 2. `onClose` is called exactly once, whichever side ends the connection, and nothing is delivered after it.
// 3. An invalid or oversize message is reported by `onGarbage` and skipped; the connection stays open.
import { toErrorMessage } from '../../../kernel/message.ts';
import type {
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from '../../../kernel/message.ts';
import type { Abortable } from '../../../kernel/base/cancellation.ts';

import type { UrlTransport } from '../address.ts';

export interface LinkEvents {
  /**
   * `from` is the request on whose own stream the message came, if the transport has such streams (HTTP). `sent` is the text of a
   * small result, if it is known. Returns whether a call waited for it.
   */
  onMessage(message: Message, from?: RequestId, sent?: string): boolean;
  /** The connection has ended for good. `reason` is for people: the exit status and stderr tail, or the network error. */
  onClose(reason: string): void;
  /** Reports data that is not a message, or too large or too deep (`oversize`); it has been skipped. `answerTo`: it was an answer to this request. */
  onGarbage(what: string, kind?: 'oversize', answerTo?: RequestId): void;
  /** The server released the stream of this request and will resume it after `retryMs` (HTTP). */
  onRelease?(from: RequestId, retryMs: number): void;
}

export interface SendOptions {
  /** HTTP headers of this request; other transports ignore them. */
  headers?: Record<string, string> | undefined;
  /** Aborting ends the request's own stream (HTTP); other transports ignore it. */
  signal?: Abortable | undefined;
  /** Other calls are pending, so this message may wait briefly to be written together with more. */
  others?: boolean | undefined;
}

export interface Link {
  readonly kind: 'stdio' | 'memory' | UrlTransport;
  /** For error messages: the command or URL, without secrets. */
  readonly name: string;
  /** Whether each request has its own stream, and is cancelled by ending it. */
  readonly perRequestStreams: boolean;
  start(events: LinkEvents): Promise<void>;
  /** Resolves when written; rejects with HttpRefusal, UPSTREAM_CLOSED or UPSTREAM_UNREACHABLE. */
  send(message: RequestMessage | NotificationMessage | ResponseMessage, options?: SendOptions): Promise<void>;
  /** Streamable HTTP: sets headers of all later requests, and opens the stream for unsolicited messages. */
  setHeaders?(headers: Record<string, string>): void;
  listen?(): void;
  /** Drops a session that the server has lost; the next request opens a new one. */
  forgetSession?(): void;
  /** The latest stderr output of a server process; empty if there is no output. */
  lastWords?(): string;
  close(): Promise<void>;
}

const INTERNAL_ERROR = -32603;
const lostAnswers = new WeakSet<object>();

/** An error in place of an answer that did not arrive. */
export function toLostAnswer(id: RequestId, why: string): Message {
  const lost = toErrorMessage(id, { code: INTERNAL_ERROR, message: `The answer was lost: ${why}` });
  lostAnswers.add(lost);
  return lost;
}

/** Whether `toLostAnswer` made this message: no server can make one for which this is true. */
export function isLostAnswer(message: Message): boolean {
  return lostAnswers.has(message);
}
