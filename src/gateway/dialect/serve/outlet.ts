// Where the answer to one incoming message goes, with all that belongs to it. Written by the transports in accept/,
// used by the dialects. After `end` nothing may be sent; a transport drops what comes later.
import type { Message } from '../../../protocol/message.ts';

export interface Outlet {
  /** A message on the way to the answer: progress, log lines, questions. */
  send(message: Message): void;
  /** The answer, or nothing where none is due. `status` matters only while an HTTP answer has not begun. */
  end(answer?: Message | Message[], status?: number): void;
  /** Whether the client is connected to hear the answer; undefined where that is not known. */
  readonly isOpen?: boolean | undefined;
  /** Lets go of the stream; the client comes back for the rest. Does nothing where that cannot be. */
  release(retryMs: number): void;
}
