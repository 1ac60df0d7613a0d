// Results of called flows that have left this process. Nothing tells when a client has read one: it may read late, and lose it if this
// process dies before that. So each result stays in the store for a while, and the next process offers it to the same call. A process that
// lives never offers a result that it has sent.
import type { Clock } from '../../shared/clock.ts';
import { RESULT_READ_MS } from '../../shared/limits.ts';

/** Where nothing outlives the process: time for the answer to leave it. */
const LEAVE_MS = 200;
/** Above this the oldest are taken as read. */
const MAX_SENT = 2000;

interface SentResult {
  stop: () => void;
  onRead: () => unknown;
}

export class SentResults {
  readonly #clock: Clock;
  readonly #waitMs: number;
  /** By session, in the order in which they were sent. */
  readonly #sent = new Map<string, SentResult>();

  constructor({ clock, store }: { clock: Clock; store: { durable: boolean } }) {
    this.#clock = clock;
    this.#waitMs = store.durable ? RESULT_READ_MS : LEAVE_MS;
  }

  /** Calls `onRead` once the client has had enough time to read it. A result that is sent again has that time again. */
  add(sessionId: string, onRead: () => unknown): void {
    this.#sent.get(sessionId)?.stop();
    this.#sent.delete(sessionId);
    this.#sent.set(sessionId, { stop: this.#clock.after(this.#waitMs, () => this.#read(sessionId)), onRead });
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > MAX_SENT) this.#read(oldest!);
  }

  #read(sessionId: string): void {
    const sent = this.#sent.get(sessionId);
    this.#sent.delete(sessionId);
    sent?.stop();
    sent?.onRead();
  }
}
