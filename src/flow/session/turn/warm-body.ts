// A body that waits in memory for its next answer, so that this turn needs no replay. It sees the same as one that is replayed:
// what is kept is where a replay would come to.
// 1. A frame is of one revision of its session, and is gone on with once. Whoever finds the session elsewhere replays it.
// 2. Nothing is read from the store before it is gone on with: whether it still holds is told by the commit at the end of the turn.
// 3. Frames are few and can be forgotten at any time.
import type { BodyRun } from '../../engine/body-run.ts';
import { clearTurnInput } from '../../engine/run-input.ts';
import { extendFold } from '../../fold.ts';
import type { Header } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';
import type { TurnRunner } from './turn-runner.ts';
import { BoundedMap } from '../../../shared/containers/bounded-map.ts';

/** A session with its body, where that is known. */
export interface WarmSession extends StoredSession {
  frame?: WarmBody | undefined;
}

export class WarmBody {
  readonly header: Header;
  #run: BodyRun | undefined;

  constructor(header: Header, run: BodyRun) {
    this.header = header;
    this.#run = run;
  }

  /** The first who asks has it. */
  take(): BodyRun | undefined {
    const run = this.#run;
    this.#run = undefined;
    return run;
  }
}

/** Its next answer may find it waiting. `known`: how many of the entries that are written the run has from the start. */
export function keepWarm({ input, run, commits }: TurnRunner, header: Header, known: number): void {
  const { warmBodies } = input.setup;
  if (!warmBodies.any || !run.canWait || commits.mixed) return;
  const { folded } = run.input;
  extendFold(folded, commits.added.slice(known));
  // What was told is the body's, and not told again.
  folded.entries = [];
  clearTurnInput(run.input);
  warmBodies.keep(new WarmBody(header, run));
}

/** The warmBodies of a process, as many as it may have: those that were used longest ago go first. */
export class WarmBodies {
  readonly #max: number;
  readonly #warmBodies: BoundedMap<string, WarmBody>;

  constructor(max: number) {
    this.#max = max;
    this.#warmBodies = new BoundedMap(max);
  }

  get any(): boolean {
    return this.#max > 0;
  }

  get(id: string): WarmBody | undefined {
    return this.#warmBodies.get(id);
  }

  keep(frame: WarmBody): void {
    this.#warmBodies.set(frame.header.id, frame);
  }

  drop(id: string): void {
    this.#warmBodies.delete(id);
  }

  /** Of sessions that have ended elsewhere nothing is kept for longer than they would have waited. */
  dropExpired(now: number): void {
    for (const [id, { header }] of this.#warmBodies.entries()) if (header.expiresAt <= now) this.drop(id);
  }

  clear(): void {
    this.#warmBodies.clear();
  }
}
