// A body that waits in memory for its next answer, so that this turn needs no replay. It sees the same as one that is replayed:
// what is kept is where a replay would come to.
// 1. A frame is of one revision of its session, and is gone on with once. Whoever finds the session elsewhere replays it.
// 2. Nothing is read from the store before it is gone on with: whether it still holds is told by the commit at the end of the turn.
// 3. Frames are few and can be forgotten at any time.
import type { Run } from '../../engine/run.ts';
import { forgetTurn } from '../../engine/run-input.ts';
import { extend } from '../../fold.ts';
import type { Header } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';
import type { Drive } from './drive.ts';
import { BoundedMap } from '../../../shared/containers/bounded-map.ts';

/** A session with its body, where that is known. */
export interface Waiting extends StoredSession {
  frame?: Frame | undefined;
}

export class Frame {
  readonly header: Header;
  #run: Run | undefined;

  constructor(header: Header, run: Run) {
    this.header = header;
    this.#run = run;
  }

  /** The first who asks has it. */
  take(): Run | undefined {
    const run = this.#run;
    this.#run = undefined;
    return run;
  }
}

/** Its next answer may find it waiting. `known`: how many of the entries that are written the run has from the start. */
export function park({ input, run, commits }: Drive, header: Header, known: number): void {
  const { frames } = input.setup;
  if (!frames.any || !run.canWait || commits.mixed) return;
  const { folded } = run.input;
  extend(folded, commits.added.slice(known));
  // What was told is the body's, and not told again.
  folded.told = [];
  forgetTurn(run.input);
  frames.keep(new Frame(header, run));
}

/** The frames of a process, as many as it may have: those that were used longest ago go first. */
export class Frames {
  readonly #max: number;
  readonly #frames: BoundedMap<string, Frame>;

  constructor(max: number) {
    this.#max = max;
    this.#frames = new BoundedMap(max);
  }

  get any(): boolean {
    return this.#max > 0;
  }

  get(id: string): Frame | undefined {
    return this.#frames.get(id);
  }

  keep(frame: Frame): void {
    this.#frames.set(frame.header.id, frame);
  }

  drop(id: string): void {
    this.#frames.delete(id);
  }

  /** Of sessions that have ended elsewhere nothing is kept for longer than they would have waited. */
  dropExpired(now: number): void {
    for (const [id, { header }] of this.#frames.entries()) if (header.expiresAt <= now) this.drop(id);
  }

  clear(): void {
    this.#frames.clear();
  }
}
