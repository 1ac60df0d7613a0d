// Plays a flow over one store in processes that may crash, with a clock that moves only if nothing else can happen. The next process
// repeats the request of a crashed one, as a client without an answer would. Every turn replays the body.
import type { AnyFlow } from '../define.ts';
import type { JournalEntry } from '../journal.ts';
import { callerQuestions, isEnded } from '../header.ts';
import { withOutcome } from '../session/turn/outcome.ts';
import { toExpiredTurn } from '../session/verbs/session-watch.ts';
import type { AnswerRequest, GivenAnswer } from '../session/verbs/requests.ts';
import { Sessions } from '../session/sessions.ts';
import { afterSteps } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import { memoryStore } from '../store/memory.ts';
import type { StoredSession } from '../store/store.ts';
import { createLog } from '../../shared/log.ts';
import { CrashPoints, createCrashingStore } from './crash-points.ts';
import type { ManualClock } from './manual-clock.ts';
import { observeFlow } from './observe-flow.ts';
import type { Observation } from './observe-flow.ts';

export const TESTER = { principal: 'tester' };
/** Base of event URLs; no network resolves this name (RFC 2606). The test delivers events itself. */
export const UNREACHABLE_URL = 'https://flows.invalid';

export interface TestStage {
  /** Runs a request until the flow asks something, ends, or waits for others. */
  act: (request: (sessions: Sessions) => Promise<Turn>) => Promise<Turn>;
  /** Waits for the steps that run while a question is open. */
  work: () => Promise<Turn>;
  /** Answers as another person. */
  answerAs: (principal: string, answer: GivenAnswer) => Promise<Turn>;
  /** Delivers an event. */
  deliver: (event: string, value: unknown) => Promise<Turn>;
  /** Moves the clock to this time. */
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
  let crashPoints = fatal;
  const seen: Observation = { steps: [] };
  const begin = () => {
    // All answers come within one second of the test clock.
    const limits = { respondsPerSecond: Infinity };
    const options = { clock, limits, leaseMs: 0, graceMs: 0, warm: 0, log: createLog({ level: 'silent' }) };
    const fixed = { newId: () => 'session_test', newSeed: () => 'c2VlZGZvcnRlc3RzISEhIQ', keys: ['tests'] };
    return new Sessions([observeFlow(flow, crashPoints, seen)], {
      ...options,
      ...fixed,
      baseUrl: () => UNREACHABLE_URL,
      store: createCrashingStore(memory, crashPoints, journal),
    });
  };

  /** The session after the next process has recovered it; undefined if nothing was stored. */
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
    const outcome = await Promise.race([request(process).then(afterSteps), crashPoints.death()]);
    if (outcome) return outcome;
    crashPoints = new CrashPoints();
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

/** The turn after some work. */
async function turnOf(sessions: Sessions, now: () => Promise<Turn>, work: () => Promise<unknown>): Promise<Turn> {
  const turns: Turn[] = [];
  const off = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
  await work().finally(off);
  return turns.at(-1) ?? now();
}

/** The turn after the answer of another person, with the verdicts. */
async function answered(sessions: Sessions, now: () => Promise<Turn>, request: AnswerRequest): Promise<Turn> {
  let verdicts: Turn['verdicts'];
  const turn = await turnOf(sessions, now, async () => ({ verdicts } = await sessions.answer(request)));
  return verdicts ? { ...turn, verdicts } : turn;
}

/** The turn after the steps that run while a question is open. */
async function worked(sessions: Sessions, now: () => Promise<Turn>): Promise<Turn> {
  let off = (): void => {};
  const moved = new Promise<Turn>((resolve) => {
    off = sessions.on((event) => event.kind === 'turn' && resolve(event.turn));
  });
  const turn = await now();
  return (turn.header.busy ? moved : Promise.resolve(turn)).finally(off);
}

function found(stored: StoredSession | undefined, { context }: Sessions): Turn {
  if (!stored) throw new Error('The session is gone');
  const { header } = stored;
  if (header.reason === 'expired') return toExpiredTurn(header);
  return { header, questions: callerQuestions(header), ...withOutcome(context, header) };
}
