// What waits for a server: it counts against the byte budget of the process. While too much waits, the server gets no large message, so
// that a burst of one client costs its other clients nothing; if it takes nothing meanwhile, it does not read, and is given up.
import { GatewayError } from '../../../kernel/base/errors.ts';
import { UNCOUNTED_BYTES } from '../../../kernel/base/held-bytes.ts';
import type { HeldShare } from '../../../kernel/base/held-bytes.ts';
import type { Inbox } from './inbox.ts';

/** How long a server with a full queue may take nothing. */
const STUCK_MS = 3000;
/** What small messages may add to a full queue, as a part of it. */
const RESERVE = 1.25;

interface UnreadQueueOptions {
  server: string;
  inbox: Inbox;
  /** The bytes that wait. */
  length(): number;
  /** The server does not read. */
  giveUp(reason: string): void;
}

export class UnreadQueue {
  readonly #options: UnreadQueueOptions;
  #holding: HeldShare | undefined;
  #stuck: NodeJS.Timeout | undefined;

  constructor(options: UnreadQueueOptions) {
    this.#options = options;
  }

  /** Throws if a message of this length may not wait. */
  admit(length: number): void {
    const waiting = this.#options.length();
    const { maxBufferedBytes: max } = this.#options.inbox;
    if (waiting <= max || (length <= UNCOUNTED_BYTES && waiting <= max * RESERVE)) return;
    const words = `${waiting} bytes wait for it (limits.maxBufferedBytes)`;
    this.#stuck ??= setTimeout(() => this.#options.giveUp(`it does not read its input: ${words}`), STUCK_MS).unref();
    throw new GatewayError('UPSTREAM_BUSY', { server: this.#options.server, reason: words });
  }

  /** Call it after a message was handed over. */
  count(): void {
    const bytes = this.#options.length();
    if (bytes > UNCOUNTED_BYTES) this.#holding ??= this.#options.inbox.hold(this.#options.server);
    this.#holding?.set(bytes);
  }

  taken(): void {
    clearTimeout(this.#stuck);
    this.#stuck = undefined;
    if (this.#holding) this.count();
  }

  end(): void {
    clearTimeout(this.#stuck);
    this.#holding?.release();
  }
}
