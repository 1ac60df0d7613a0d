// Reads a server that floods us only as fast as others can bear: its bytes wait for slots, and meanwhile nothing more is taken
// from it. Invariants:
// 1. Nothing is lost, and the order stays. What the source had sent when it ended is read.
// 2. Lines count, for each costs processor time even if it brings nothing; a long one that answers no call counts for many. An answer that a
//    call waited for makes up for its own lines: many calls do not count as a flood.
// 3. A line that is very long is read in turns with others, at full speed if there are none.
import { systemClock, ticksOf } from '../../kernel/base/clock.ts';
import { FLOOD_LINES } from '../../kernel/base/limits.ts';

interface Source {
  pause(): unknown;
  resume(): unknown;
}

interface PacedOptions {
  reader: { push(chunk: Buffer): void; readonly lines: number };
  inbox: { readonly answers: number };
  source: Source;
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

/** Bytes of a message that are read without waiting for a turn. */
const BYTES_BEFORE_TURNS = 512 * 1024;
/** What is read in a turn. Shorter ones would make a message that is alone slower. */
const TURN_BYTES = 256 * 1024;

const waitingForTurn: { source: Source; bytes: number }[] = [];
let isTurnScheduled = false;

/**
 * Large messages are read in turns, a part of one in each round of the event loop. Node would read up to two megabytes of each connection
 * before it looks at the next one, and small requests would wait for all of that. Call it after each chunk, with the bytes of the message so far:
 * pauses the source until its next turn, if this one is over.
 */
export function readInTurns(source: Source, bytes: number, chunkBytes: number): void {
  if (bytes <= BYTES_BEFORE_TURNS || bytes % TURN_BYTES >= chunkBytes) return;
  source.pause();
  waitingForTurn.push({ source, bytes });
  scheduleTurn();
}

function scheduleTurn(): void {
  if (isTurnScheduled || waitingForTurn.length === 0) return;
  isTurnScheduled = true;
  setImmediate(giveTurn);
}

/** To the longest: if all of them grew side by side, they would need the most memory, and all be late. */
function giveTurn(): void {
  isTurnScheduled = false;
  let next = 0;
  for (const [index, { bytes }] of waitingForTurn.entries()) if (bytes > waitingForTurn[next]!.bytes) next = index;
  const [longest] = waitingForTurn.splice(next, 1);
  longest?.source.resume(); // it may wait for its next turn at once
  scheduleTurn();
}

/** The rest after a slot, as a multiple of its time. */
const REST = 4;
const SHORTEST_MS = 1;
/** A busy machine makes a slot look long. */
const LONGEST_MS = 20;

const waitingForSlot: (() => void)[] = [];
let restMs = SHORTEST_MS;
let isSlotScheduled = false;

/**
 * Work that can wait is done in slots, one at a time for the whole process, with a rest after each that is a multiple of the time that it took.
 * So all of it together takes a small share of the processor, however much there is, and what others wait for goes first. Calls back when its
 * slot has come; a slot should take a fraction of a millisecond.
 */
export function waitForSlot(work: () => void): void {
  waitingForSlot.push(work);
  scheduleSlot();
}

function scheduleSlot(): void {
  if (isSlotScheduled || waitingForSlot.length === 0) return;
  isSlotScheduled = true;
  // It keeps the process alive: a source that is paused would not.
  setTimeout(takeSlot, restMs);
}

function takeSlot(): void {
  const begun = ticksOf(systemClock);
  try {
    waitingForSlot.shift()?.();
  } finally {
    restMs = Math.min(Math.max((ticksOf(systemClock) - begun) * REST, SHORTEST_MS), LONGEST_MS);
    isSlotScheduled = false;
    scheduleSlot();
  }
}
