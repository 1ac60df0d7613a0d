// Bodies of this process that wait in memory for their next answer.
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import type { BodyRun } from '../../engine/body-run.ts';
import type { Header } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';

/**
 * A body that waits in memory for its next answer, so that the turn needs no replay. It behaves exactly like a replayed body.
 * 1. It belongs to one revision of its session and can be resumed once; every other process replays the journal.
 * 2. It is resumed without reading the store. The commit at the end of the turn fails if the session has changed.
 * 3. It can be dropped at any time.
 */
export class WarmBody {
  readonly header: Header;
  #run: BodyRun | undefined;

  constructor(header: Header, run: BodyRun) {
    this.header = header;
    this.#run = run;
  }

  /** Returns the run to the first caller only. */
  take(): BodyRun | undefined {
    const run = this.#run;
    this.#run = undefined;
    return run;
  }
}

/** A session, with its body if that is in memory. */
export interface WarmSession extends StoredSession {
  warm?: WarmBody | undefined;
}

/** The warm bodies of a process, up to a limit. The least recently used ones are dropped first. */
export class WarmBodies extends BoundedMap<string, WarmBody> {
  readonly any: boolean;

  constructor(max: number) {
    super(max);
    this.any = max > 0;
  }

  keep(warm: WarmBody): void {
    this.set(warm.header.id, warm);
  }

  /** Drops bodies of expired sessions, which another process may have ended. */
  dropExpired(now: number): void {
    for (const [id, { header }] of this.entries()) if (header.expiresAt <= now) this.delete(id);
  }
}
