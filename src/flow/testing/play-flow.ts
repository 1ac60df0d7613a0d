// Plays a flow to its end with scripted answers. Time moves only if nothing else can happen.
import { randomBytes } from 'node:crypto';
import type { AskFailure } from '../authoring/ask-failure.ts';
import type { AnyFlow } from '../define.ts';
import type { JournalEntry } from '../journal.ts';
import type { Question } from '../question/question.ts';
import type { GivenAnswer } from '../session/context/requests.ts';
import type { Failure, Turn } from '../session/turn/turn.ts';
import { CrashPoints, TESTER, createTestStage } from './test-stage.ts';
import { manualClock } from './manual-clock.ts';
import type { ManualClock } from './manual-clock.ts';
import { nextDeadline, isEnded } from '../header.ts';
import type { TestStage, StepSeen, UndoSeen } from './test-stage.ts';
import type { FlowLimits } from '../session/context/flow-limits.ts';

/** Marks a question that gets no answer. */
export class NoAnswer {
  readonly no: AskFailure;

  constructor(no: AskFailure) {
    this.no = no;
  }
}

/**
 * An answer for `testFlow`: the user declines, cancels, or lets the time pass.
 *
 * @example
 * ```ts
 * import { flow } from 'mcp-parley/flow';
 * import { testFlow, unanswered } from 'mcp-parley/testing';
 *
 * const survey = flow({ name: 'survey' }, async (ask) => ask.try(ask.number('age', { timeout: '1m' })));
 * console.log((await testFlow(survey).answer({ age: unanswered('timeout') })).result);
 * ```
 */
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
  /** Tries to undo effects, in order; a failed one has an `error`, and was tried again. */
  undos: UndoSeen[];
  /** Keys of the effects that could not be undone, after all tries. */
  notUndone: readonly string[];
  journal: JournalEntry[];
}

export interface FlowPlayOptions {
  flow: AnyFlow;
  args: Record<string, unknown>;
  answers: ScriptedAnswers;
  crashPoints?: CrashPoints;
  /** Moved if only time can continue the flow. Default: a new clock. */
  clock?: ManualClock | undefined;
  /** Default: a new one, so that every play has idempotency keys of its own. */
  sessionId?: string | undefined;
  /** Limits of `serveFlows`. */
  limits?: Partial<FlowLimits> | undefined;
}

const MAX_ROUNDS = 1000;

/** As a server makes it. */
export function newSessionId(): string {
  return `session_${randomBytes(16).toString('base64url')}`;
}

export async function playFlow({ flow, args, answers, ...options }: FlowPlayOptions): Promise<PlayResult> {
  const { crashPoints: fatal = new CrashPoints(), clock = manualClock(), sessionId = newSessionId(), limits } = options;
  const stage = createTestStage(flow, { fatal, clock, sessionId, limits });
  const { act, journal, seen } = stage;
  let turn = await act((sessions) => sessions.start({ ...TESTER, tool: flow.name, args }));
  const asked = new Map<string, Question>();
  const events = new Set<string>();
  let rounds = 0;
  for (let acts = 0; acts < MAX_ROUNDS; acts++) {
    const { header, questions } = turn;
    for (const question of openOf(turn)) asked.set(question.promptId, question);
    for (const event of eventsOf(turn)) events.add(event);
    const given = questions.flatMap((question) => toGiven(question, answers) ?? []);
    const next = given.length === 0 ? await withoutAnswer(turn, stage, answers) : undefined;
    if (given.length === 0 && !next) break;
    if (given.length > 0 || next?.verdicts) rounds++;
    turn = next ?? (await act((sessions) => sessions.answer({ ...TESTER, sessionId: header.id, answers: given })));
    refuseWrong(turn, answers);
  }
  const notUndone = isEnded(turn.header) ? await stage.finish() : [];
  const keys = [...asked.values()].map(({ key }) => key);
  refuseLeftOver(turn, { answers, played: new Set([...keys, ...events]) });
  return {
    result: turn.questions.length === 0 ? seen.returned : undefined,
    failure: turn.failure,
    rounds,
    journal,
    asked: [...asked.values()],
    open: openOf(turn),
    waiting: eventsOf(turn),
    steps: seen.steps,
    undos: seen.undos,
    notUndone,
  };
}

/** A key that was never asked for is a typo, or stands behind a question without an answer. A failure says for itself that the play ended early. */
function refuseLeftOver(
  turn: Turn,
  { answers, played }: { answers: ScriptedAnswers; played: ReadonlySet<string> },
): void {
  if (typeof answers === 'function' || turn.failure) return;
  const left = Object.keys(answers).filter((key) => !played.has(key));
  if (left.length === 0) return;
  const open = [...openOf(turn).map(({ key }) => key), ...eventsOf(turn)];
  const where = open.length > 0 ? `; it stopped at ${open.join(', ')}, without an answer` : '';
  throw new Error(`The flow never asked for ${left.join(', ')}${where}`);
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
  const isLate = (header.current as Question[]).some((question) => isLeftToTime(question, answers));
  if (isLate) return pass(Math.min(nextDeadline(header), header.expiresAt));
  return header.waits?.some(({ until }) => until !== undefined) ? pass(nextDeadline(header)) : undefined;
}

/** Marked as `timeout`: the question, or its session, times out as on a server. */
function isLeftToTime(question: Question, answers: ScriptedAnswers): boolean {
  const value = valueFor(question, answers);
  return value instanceof NoAnswer && value.no === 'timeout';
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
  const { promptId } = question;
  const value = valueFor(question, answers);
  if (value instanceof NoAnswer) return value.no === 'timeout' ? undefined : { promptId, no: value.no };
  return value === undefined ? undefined : { promptId, value };
}

function valueFor(question: Question, answers: ScriptedAnswers): unknown {
  if (typeof answers === 'function') return answers(question);
  return Object.hasOwn(answers, question.key) ? answers[question.key] : undefined;
}

/** The same answer would be refused again; a function may give another one at the next attempt. */
function refuseWrong({ verdicts = {} }: Turn, answers: ScriptedAnswers): void {
  if (typeof answers === 'function') return;
  for (const [promptId, verdict] of Object.entries(verdicts)) {
    if (!verdict.valid) throw new Error(`The answer to ${promptId} was refused: ${verdict.error}`);
  }
}
