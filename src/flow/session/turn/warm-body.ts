// A body that waits in memory for its next answer, so that the turn needs no replay. It behaves exactly like a replayed body.
// 1. It belongs to one revision of its session and can be resumed once; every other process replays the journal.
// 2. It is resumed without reading the store. The commit at the end of the turn fails if the session has changed.
// 3. It can be dropped at any time.
import { BodyRun } from '../../engine/body-run.ts';
import { clearTurnInput, createRunInput } from '../../engine/run-input.ts';
import type { ResumeInput } from '../../engine/run-input.ts';
import { extendFold, fold } from '../../fold.ts';
import type { Header } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';
import type { TurnInput } from './turn-input.ts';
import type { TurnRunner } from './turn-runner.ts';
import { BoundedMap } from '../../../shared/containers/bounded-map.ts';

/** A session, with its body if that is in memory. */
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

  /** Returns the run to the first caller only. */
  take(): BodyRun | undefined {
    const run = this.#run;
    this.#run = undefined;
    return run;
  }
}

/** Resumes the body that waits in memory, or starts a new run over the journal. */
export function resumeOrReplay(
  { context, flow, header, prefix, entries, frame, next, incoming = [] }: TurnInput,
  { onStall, onFailing }: { onStall: () => void; onFailing: () => void },
): BodyRun {
  const now: ResumeInput = {
    incoming,
    next,
    now: context.clock.now(),
    checks: context.checks,
    onStall,
    onFailing,
    onUnjournaled: (access) => context.log.warn({ tool: flow.name, ...access }, 'flow.unjournaled'),
    unasked: header.unasked,
    deadline: header.deadline,
    isPatient: !context.lasting,
  };
  const waiting = prefix ? undefined : frame?.take();
  if (!waiting) {
    const folded = fold(prefix ? [...entries, ...prefix] : entries);
    const { id: sessionId, locale } = header;
    return new BodyRun(createRunInput({ flow, folded, sessionId, locale, virtual: context.virtual }, now));
  }
  waiting.resume(now);
  return waiting;
}

/** Keeps the body for the next answer. `known`: how many of the written entries the run knew from the start. */
export function keepWarm({ input, run, commits }: TurnRunner, header: Header, known: number): void {
  const { warmBodies } = input.context;
  if (!warmBodies.any || !run.canWait || commits.mixed) return;
  const { folded } = run.input;
  extendFold(folded, commits.added.slice(known));
  // The body has received these entries.
  folded.entries = [];
  clearTurnInput(run.input);
  warmBodies.keep(new WarmBody(header, run));
}

/** The warm bodies of a process, up to a limit. The least recently used ones are dropped first. */
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

  /** Drops bodies of expired sessions, which another process may have ended. */
  dropExpired(now: number): void {
    for (const [id, { header }] of this.#warmBodies.entries()) if (header.expiresAt <= now) this.drop(id);
  }

  clear(): void {
    this.#warmBodies.clear();
  }
}
