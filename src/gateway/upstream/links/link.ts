// One connection to a server, as bytes and messages go; knows no era. What it must keep:
// 1. `onMessage` gets every message once, in the order in which the server wrote it on its stream.
// 2. After `onClose` nothing is delivered, and it is called exactly once, whichever side ended the connection.
// 3. Hitting a limit or meeting garbage costs that message alone: it is told by `onGarbage`, the connection lives.
import type { Abortable } from '../../../shared/cancellation.ts';
import type {
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from '../../../protocol/message.ts';

export interface LinkEvents {
  /**
   * `from` names the request on whose own stream the message came, where the transport can tell (HTTP). `sent` is the result of a
   * small answer as it was written, where that is known.
   */
  onMessage(message: Message, from?: RequestId, sent?: string): void;
  /** The connection is gone for good. `reason` is for people: exit status and stderr tail, or the network's words. */
  onClose(reason: string): void;
  /** Something that was no message, or too large to be read (`oversize`); already skipped. */
  onGarbage(what: string, kind?: 'oversize'): void;
  /** The server let go of the stream of this request, which goes on after so long (HTTP). */
  onRelease?(from: RequestId, retryMs: number): void;
}

export interface SendOptions {
  /** HTTP headers of this request; other transports ignore them. */
  headers?: Record<string, string> | undefined;
  /** Aborting ends the request's own stream (HTTP); other transports ignore it. */
  signal?: Abortable | undefined;
  /** More is under way with this server: what can be written together, may wait for it. */
  others?: boolean | undefined;
}

export interface Link {
  readonly kind: 'stdio' | 'streamable-http' | 'http+sse' | 'websocket' | 'memory';
  /** For error messages: the command or URL, without secrets. */
  readonly name: string;
  /** True where each request has its own stream, and ending it is how a request is called off. */
  readonly perRequestStreams: boolean;
  start(events: LinkEvents): Promise<void>;
  /** Resolves when written; rejects with HttpRefusal, UPSTREAM_CLOSED or UPSTREAM_UNREACHABLE. */
  send(message: RequestMessage | NotificationMessage | ResponseMessage, options?: SendOptions): Promise<void>;
  /** Streamable HTTP: headers for every later request, and the stream for messages that nobody asked for. */
  setHeaders?(headers: Record<string, string>): void;
  listen?(): void;
  /** The server has forgotten the session: the next request opens a new one. */
  forgetSession?(): void;
  /** What a server process wrote to stderr of late; empty when nothing. */
  lastWords?(): string;
  close(): Promise<void>;
}

/** The server answered a POST with an HTTP error; the body, when it was JSON-RPC, is evidence for the era probe. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, body: unknown, retryAfterMs?: number) {
    super(`HTTP ${status}`);
    this.name = 'HttpRefusal';
    this.status = status;
    this.body = body;
    this.retryAfterMs = retryAfterMs;
  }
}
