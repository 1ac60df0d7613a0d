// Reads a server that floods us only as fast as others can bear: its bytes wait for slots (slots.ts), and meanwhile nothing more is taken
// from it. Invariants:
// 1. Nothing is lost, and the order stays. What the source had sent when it ended is read.
// 2. Lines count, for each costs processor time even if it brings nothing; a long one that answers no call counts for many. An answer that a
//    call waited for makes up for its own lines: many calls do not count as a flood.
// 3. A line that is very long is read in turns with others (reading-turns.ts), at full speed if there are none.
import { systemClock, ticksOf } from '../../shared/clock.ts';
import { FLOOD_LINES } from '../../shared/limits.ts';
import { readInTurns } from './reading-turns.ts';
import { waitForSlot } from './slots.ts';

export interface PacedOptions {
  reader: { push(chunk: Buffer): void; readonly lines: number };
  inbox: { readonly answers: number };
  source: { pause(): unknown; resume(): unknown };
  /** Called after each piece. */
  onRead?: () => void;
  /** Chunks of the source are whole messages. */
  isWhole?: boolean;
}

/** Of an event on HTTP: `event`, `id`, `data` and the blank one. */
const LINES_OF_ANSWER = 4;
/** What may be read in a slot; bytes count as lines of this length. */
const SLOT_LINES = 32;
const LINE_BYTES = 2048;
const PIECE_BYTES = 4096;

export class PacedReader {
  readonly #options: PacedOptions;
  readonly #unread: Buffer[] = [];
  #lines = 0;
  /** Of a line that has not ended. */
  #lineBytes = 0;
  #countedAt = ticksOf(systemClock);
  /** What is left of its slot. */
  #slotLines = 0;
  #isWaiting = false;
  #isFlooding = false;
  #isReading = false;
  #isOver = false;

  constructor(options: PacedOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    // Most chunks: whole messages stay in one piece.
    if (this.#unread.length === 0 && this.#lines < FLOOD_LINES.burst / 2 && !this.#isFlooding) return this.#read(chunk);
    this.#unread.push(chunk);
    if (!this.#isWaiting) this.#readSome();
  }

  /** Whether something waits for its slot; the source is paused then. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** The source has ended, or will soon: what is left of it is read at once. */
  end(): void {
    this.#isOver = true;
    this.#isWaiting = false;
    if (this.#isReading) return;
    this.#readSome();
    // Not at once: a source of undici throws if it is resumed while another one is being read, as it is when the budget cuts this one off.
    setImmediate(() => this.#options.source.resume());
  }

  /** Reads no more. */
  drop(): void {
    this.#isOver = true;
    this.#unread.length = 0;
  }

  #readSome(): void {
    while (this.#slotLines > 0 || !this.#isFlood()) if (!this.#readPiece()) return;
    if (this.#unread.length === 0) return;
    this.#isWaiting = true;
    this.#options.source.pause();
    waitForSlot(this.#takeSlot);
  }

  readonly #takeSlot = (): void => {
    this.#isWaiting = false;
    this.#slotLines = SLOT_LINES;
    this.#readSome();
    if (!this.#isWaiting) this.#options.source.resume();
  };

  /** A flood ends when it has paused for some time, so that an endless one does not begin again and again. */
  #isFlood(): boolean {
    const { burst, perSecond } = FLOOD_LINES;
    const limit = this.#isFlooding ? 0 : burst;
    if (this.#lines > limit && !this.#isOver) {
      const now = ticksOf(systemClock);
      const allowed = (perSecond * (now - this.#countedAt)) / 1000;
      this.#lines = Math.max(0, Math.min(this.#lines, 2 * burst) - allowed);
      this.#countedAt = now;
    }
    this.#isFlooding = this.#lines > limit && !this.#isOver;
    return this.#isFlooding;
  }

  #read(chunk: Buffer): void {
    const { reader, inbox, onRead } = this.#options;
    const [linesBefore, answersBefore] = [reader.lines, inbox.answers];
    this.#isReading = true;
    reader.push(chunk);
    this.#isReading = false;
    const lines = reader.lines - linesBefore;
    const answers = inbox.answers - answersBefore;
    const ofLong = lines > 0 && answers === 0 ? this.#lineBytes / LINE_BYTES : 0;
    this.#lines = Math.max(0, this.#lines + lines + ofLong - LINES_OF_ANSWER * answers);
    this.#lineBytes = lines > 0 ? 0 : this.#lineBytes + chunk.length;
    if (this.#lineBytes > 0 && !this.#isWaiting && !this.#isOver) {
      readInTurns(this.#turns, this.#lineBytes, chunk.length);
    }
    onRead?.();
  }

  readonly #turns = {
    pause: (): void => void this.#options.source.pause(),
    resume: (): void => {
      if (!this.#isWaiting && !this.#isOver) this.#options.source.resume();
    },
  };

  /** False if nothing is left. The time that this takes does not count as a pause of the flood. */
  #readPiece(): boolean {
    const piece = this.#nextPiece();
    if (!piece) return false;
    const [begun, lines] = [ticksOf(systemClock), this.#options.reader.lines];
    this.#read(piece);
    this.#slotLines -= Math.max(this.#options.reader.lines - lines, piece.length / LINE_BYTES);
    this.#countedAt += ticksOf(systemClock) - begun;
    return true;
  }

  #nextPiece(): Buffer | undefined {
    const [first] = this.#unread;
    if (!first || this.#options.isWhole || first.length <= PIECE_BYTES) return this.#unread.shift();
    this.#unread[0] = first.subarray(PIECE_BYTES);
    return first.subarray(0, PIECE_BYTES);
  }
}
