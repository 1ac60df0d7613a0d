// Where a flow is played: processes that come and go over one store, in a time that stands still. A request whose process dies is taken up by the
// next one, as a client would that got no answer.
import type { AnyFlow } from '../define.ts';
import type { Entry } from '../journal.ts';
import type { Question } from '../question/question.ts';
import { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn.ts';
import type { Turn } from '../session/turn.ts';
import { memoryStore } from '../store/memory.ts';
import { isEnded } from '../store/store.ts';
import { createLog } from '../../shared/log.ts';
import { Boundaries, mortalStore } from './crash-store.ts';
import { manualClock } from './manual-clock.ts';
import { observed } from './observed.ts';
import type { Observation } from './observed.ts';

export const ME = { principal: 'tester' };

export interface Stage {
  /** In a process of its own. */
  act: (request: (sessions: Sessions) => Promise<Turn>) => Promise<Turn>;
  readonly journal: Entry[];
  readonly seen: Observation;
}

export function createStage(flow: AnyFlow, fatal: Boundaries): Stage {
  const clock = manualClock();
  const memory = memoryStore({ clock });
  const journal: Entry[] = [];
  let boundaries = fatal;
  const seen: Observation = { steps: [] };
  const begin = () => {
    // All answers come within the second that stands still.
    const limits = { respondsPerSecond: Infinity };
    const options = { clock, limits, leaseMs: 0, graceMs: 0, log: createLog({ level: 'silent' }) };
    const fixed = { newId: () => 'session_test', newSeed: () => 'c2VlZGZvcnRlc3RzISEhIQ', keys: ['tests'] };
    return new Sessions([observed(flow, boundaries, seen)], {
      ...options,
      ...fixed,
      store: mortalStore(memory, boundaries, journal),
    });
  };

  /** What the next process makes of what the last one has left; undefined if there is nothing. */
  const recover = async (sessions: Sessions): Promise<Turn | undefined> => {
    const turns: Turn[] = [];
    const off = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
    await sessions.sweep();
    off();
    for (const turn of turns) await settled(turn);
    const left = await memory.load('session_test');
    return left && { header: left.header, questions: left.header.current as Question[] };
  };

  const act: Stage['act'] = async (request) => {
    const first = begin();
    const outcome = await Promise.race([request(first).then(settled), boundaries.death()]);
    if (outcome) return outcome;
    boundaries = new Boundaries();
    const next = begin();
    const left = await recover(next);
    if (left && (isEnded(left.header) || left.header.rounds === 1)) return left;
    return settled(await request(next));
  };
  return { act, journal, seen };
}
