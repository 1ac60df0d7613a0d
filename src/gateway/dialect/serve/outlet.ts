// Where the answer to one incoming message goes. Transports in accept/ implement it, dialects use it. After `end`
// nothing may be sent; transports drop anything later.
import type { Message } from '../../../protocol/message.ts';

export interface Outlet {
  /** A message before the answer: progress, a log line or a question. */
  send(message: Message): void;
  /** The answer, if one is due. `status` counts only while the HTTP answer has not begun. */
  end(answer?: Message | Message[], status?: number): void;
  /** Whether the client is connected; undefined if unknown. */
  readonly isOpen?: boolean | undefined;
  /** Closes the stream so that the client reconnects for the rest; does nothing if it cannot. */
  release(retryMs: number): void;
}
