// Where a flow is played: processes that come and go over one store, in a time that stands still until nothing else can happen. A request whose
// process dies is taken up by the next one, as a client would that got no answer. Bodies are replayed in every turn.
import type { AnyFlow } from '../define.ts';
import type { JournalEntry } from '../journal.ts';
import { callerQuestions } from '../session/external/waits.ts';
import { withOutcome } from '../session/turn/outcome.ts';
import { toExpiredTurn } from '../session/verbs/session-watch.ts';
import type { AnswerRequest, GivenAnswer } from '../session/verbs/requests.ts';
import { Sessions } from '../session/sessions.ts';
import { afterSteps } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import { memoryStore } from '../store/memory.ts';
import { isEnded } from '../store/store.ts';
import type { StoredSession } from '../store/store.ts';
import { createLog } from '../../shared/log.ts';
import { CrashPoints, createCrashingStore } from './crash-points.ts';
import type { ManualClock } from './manual-clock.ts';
import { observeFlow } from './observe-flow.ts';
import type { Observation } from './observe-flow.ts';

export const TESTER = { principal: 'tester' };
/** Where events would be delivered: a name that no network knows (RFC 2606). The test delivers them itself. */
export const UNREACHABLE_URL = 'https://flows.invalid';

export interface TestStage {
  /** Until it asks something, ends, or waits for others. */
  act: (request: (sessions: Sessions) => Promise<Turn>) => Promise<Turn>;
  /** Until the steps that run beside a question have brought it further. */
  work: () => Promise<Turn>;
  /** Where the answer of somebody else leads to. */
  answerAs: (principal: string, answer: GivenAnswer) => Promise<Turn>;
  /** Where an event leads to. */
  deliver: (event: string, value: unknown) => Promise<Turn>;
  /** Lets the time pass until then. */
  pass: (at: number) => Promise<Turn>;
  readonly journal: JournalEntry[];
  readonly seen: Observation;
}

interface StageOptions {
  fatal: CrashPoints;
  clock: ManualClock;
}

export function createTestStage(flow: AnyFlow, { fatal, clock }: StageOptions): TestStage {
  const memory = memoryStore({ clock });
  const journal: JournalEntry[] = [];
  let boundaries = fatal;
  const seen: Observation = { steps: [] };
  const begin = () => {
    // All answers come within the second that stands still.
    const limits = { respondsPerSecond: Infinity };
    const options = { clock, limits, leaseMs: 0, graceMs: 0, warm: 0, log: createLog({ level: 'silent' }) };
    const fixed = { newId: () => 'session_test', newSeed: () => 'c2VlZGZvcnRlc3RzISEhIQ', keys: ['tests'] };
    return new Sessions([observeFlow(flow, boundaries, seen)], {
      ...options,
      ...fixed,
      baseUrl: () => UNREACHABLE_URL,
      store: createCrashingStore(memory, boundaries, journal),
    });
  };

  /** What the next process makes of what the last one has left; undefined if there is nothing. */
  const recover = async (sessions: Sessions): Promise<Turn | undefined> => {
    const turns: Turn[] = [];
    const off = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
    await sessions.sweep();
    off();
    for (const turn of turns) await afterSteps(turn);
    const left = await memory.load('session_test');
    return left && found(left, sessions);
  };

  let process = begin();
  const act: TestStage['act'] = async (request) => {
    const outcome = await Promise.race([request(process).then(afterSteps), boundaries.death()]);
    if (outcome) return outcome;
    boundaries = new CrashPoints();
    process = begin();
    const left = await recover(process);
    if (left && (isEnded(left.header) || left.header.rounds <= 1)) return left;
    return afterSteps(await request(process));
  };

  const now = async () => found(await memory.load('session_test'), process);
  const pass: TestStage['pass'] = (at) =>
    act((sessions) => {
      clock.move(Math.max(at - clock.now(), 0));
      return turnOf(sessions, now, () => sessions.sweep());
    });
  const answerAs: TestStage['answerAs'] = (principal, answer) => {
    const request = { principal, sessionId: 'session_test', answers: [answer] };
    return act((sessions) => answered(sessions, now, request));
  };
  const deliver: TestStage['deliver'] = (event, value) =>
    act((sessions) => turnOf(sessions, now, () => sessions.deliver({ sessionId: 'session_test', event, value })));
  const work: TestStage['work'] = () => act((sessions) => worked(sessions, now));
  return { act, work, answerAs, deliver, pass, journal, seen };
}

/** Where something leads to. */
async function turnOf(sessions: Sessions, now: () => Promise<Turn>, work: () => Promise<unknown>): Promise<Turn> {
  const turns: Turn[] = [];
  const off = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
  await work().finally(off);
  return turns.at(-1) ?? now();
}

/** Where the answer of somebody else leads to, with what was made of it. */
async function answered(sessions: Sessions, now: () => Promise<Turn>, request: AnswerRequest): Promise<Turn> {
  let verdicts: Turn['verdicts'];
  const turn = await turnOf(sessions, now, async () => ({ verdicts } = await sessions.answer(request)));
  return verdicts ? { ...turn, verdicts } : turn;
}

/** Where the steps lead to that run beside a question. */
async function worked(sessions: Sessions, now: () => Promise<Turn>): Promise<Turn> {
  let off = (): void => {};
  const moved = new Promise<Turn>((resolve) => {
    off = sessions.on((event) => event.kind === 'turn' && resolve(event.turn));
  });
  const turn = await now();
  return (turn.header.busy ? moved : Promise.resolve(turn)).finally(off);
}

function found(stored: StoredSession | undefined, { setup }: Sessions): Turn {
  if (!stored) throw new Error('The session is gone');
  const { header } = stored;
  if (header.reason === 'expired') return toExpiredTurn(header);
  return { header, questions: callerQuestions(header), ...withOutcome(setup, header) };
}
