// Plays a flow to its end with scripted answers. Time moves only if nothing else can happen.
import type { AskFailure } from '../authoring/ask-failure.ts';
import type { AnyFlow } from '../define.ts';
import type { JournalEntry } from '../journal.ts';
import type { Question } from '../question/question.ts';
import type { GivenAnswer } from '../session/verbs/requests.ts';
import type { Failure, Turn } from '../session/turn/turn.ts';
import { CrashPoints, TESTER, createTestStage } from './test-stage.ts';
import { manualClock } from './manual-clock.ts';
import type { ManualClock } from './manual-clock.ts';
import { nextDeadline, isEnded } from '../header.ts';
import type { TestStage, StepSeen } from './test-stage.ts';

/** Marks a question that gets no answer. */
export class NoAnswer {
  readonly no: AskFailure;

  constructor(no: AskFailure) {
    this.no = no;
  }
}

export function unanswered(no: AskFailure = 'declined'): NoAnswer {
  return new NoAnswer(no);
}

/** Answers by key, with `#2` in a loop, including events; or a function of the question. */
export type ScriptedAnswers = Record<string, unknown> | ((question: Question) => unknown);

export interface PlayResult {
  /** What the body returned. */
  result: unknown;
  failure: Failure | undefined;
  /** All questions in the order in which they were asked. */
  asked: Question[];
  rounds: number;
  /** Questions without an answer, where the play stopped; also those of other people. */
  open: Question[];
  /** Keys of the events that it still waits for. */
  waiting: string[];
  /** Steps that ran, once for each run. */
  steps: StepSeen[];
  journal: JournalEntry[];
}

export interface FlowPlayOptions {
  flow: AnyFlow;
  args: Record<string, unknown>;
  answers: ScriptedAnswers;
  crashPoints?: CrashPoints;
  /** Moved if only time can continue the flow. Default: a new clock. */
  clock?: ManualClock | undefined;
}

const MAX_ROUNDS = 1000;

export async function playFlow({ flow, args, answers, ...options }: FlowPlayOptions): Promise<PlayResult> {
  const { crashPoints: fatal = new CrashPoints(), clock = manualClock() } = options;
  const stage = createTestStage(flow, { fatal, clock });
  const { act, journal, seen } = stage;
  let turn = await act((sessions) => sessions.start({ ...TESTER, tool: flow.name, args }));
  const asked = new Map<string, Question>();
  let rounds = 0;
  for (let acts = 0; acts < MAX_ROUNDS; acts++) {
    const { header, questions } = turn;
    for (const question of openOf(turn)) asked.set(question.promptId, question);
    const given = questions.flatMap((question) => toGiven(question, answers) ?? []);
    const next = given.length === 0 ? await withoutAnswer(turn, stage, answers) : undefined;
    if (given.length === 0 && !next) break;
    if (given.length > 0 || next?.verdicts) rounds++;
    turn = next ?? (await act((sessions) => sessions.answer({ ...TESTER, sessionId: header.id, answers: given })));
    refuseWrong(turn, answers);
  }
  return {
    result: turn.questions.length === 0 ? seen.returned : undefined,
    failure: turn.failure,
    rounds,
    journal,
    asked: [...asked.values()],
    open: openOf(turn),
    waiting: eventsOf(turn),
    steps: seen.steps,
  };
}

/** Questions of the caller and of other people. */
function openOf({ header, questions }: Turn): Question[] {
  if (isEnded(header)) return questions;
  return [...questions, ...(header.current as Question[]).filter(({ person }) => person && !person.orCaller)];
}

function eventsOf({ header }: Turn): string[] {
  return isEnded(header) ? [] : (header.waits ?? []).flatMap(({ kind, key }) => (kind === 'event' ? [key] : []));
}

/** The next turn without an answer of the caller; undefined if only that can continue. */
async function withoutAnswer({ header }: Turn, stage: TestStage, answers: ScriptedAnswers): Promise<Turn | undefined> {
  const { work, pass } = stage;
  if (isEnded(header)) return undefined;
  for (const question of header.current as Question[]) {
    const given = question.person && toGiven(question, answers);
    if (given) return stage.answerAs(question.person!.principal, given);
  }
  const event = header.waits?.find(({ kind, key }) => kind === 'event' && hasEvent(answers, key))?.key;
  if (event !== undefined) return stage.deliver(event, (answers as Record<string, unknown>)[event]);
  if (header.busy) return work();
  return header.waits?.some(({ until }) => until !== undefined) ? pass(nextDeadline(header)) : undefined;
}

/** An event marked as `timeout` is waited for until it times out. */
function hasEvent(answers: ScriptedAnswers, key: string): boolean {
  if (typeof answers === 'function' || !Object.hasOwn(answers, key)) return false;
  const value = answers[key];
  if (!(value instanceof NoAnswer)) return true;
  if (value.no === 'timeout') return false;
  throw new Error(`Nobody answers the event ${key}: give it a value, or unanswered('timeout')`);
}

function toGiven(question: Question, answers: ScriptedAnswers): GivenAnswer | undefined {
  const { promptId, key } = question;
  const value =
    typeof answers === 'function' ? answers(question) : Object.hasOwn(answers, key) ? answers[key] : undefined;
  if (value instanceof NoAnswer) return { promptId, no: value.no };
  return value === undefined ? undefined : { promptId, value };
}

/** The same answer would be refused again; a function may give another one at the next attempt. */
function refuseWrong({ verdicts = {} }: Turn, answers: ScriptedAnswers): void {
  if (typeof answers === 'function') return;
  for (const [promptId, verdict] of Object.entries(verdicts)) {
    if (!verdict.valid) throw new Error(`The answer to ${promptId} was refused: ${verdict.error}`);
  }
}
