// Drafts the commit for each state in which a run stops: the patch of the header, the entries, and the turn to report.
import type { PromptStep } from '../../../kernel/form/prompt.ts';
import { toReason } from '../../../kernel/json-schema.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { AnyFlow } from '../../define.ts';
import { awaitAuthor, readData, toJsonValue, toMistake } from '../../engine/author-code.ts';
import type { BodyRun } from '../../engine/body-run.ts';
import type { IncomingEvent, IncomingAnswer } from '../../engine/run-input.ts';
import { isMismatch, toBrokenVersion } from '../../engine/mismatch.ts';
import { findPlace, toErrorEntry, withFlowName } from '../../engine/misuse.ts';
import type { RunState, PendingQuestion, PendingWait } from '../../engine/pending-ask.ts';
import { buildQuestions } from '../../engine/build-questions.ts';
import { callerQuestions, toDueAt, toExpiry, earlyEndOf, endReason } from '../../header.ts';
import { WITHDRAWN } from '../../journal.ts';
import type { JournalEntry, Header, Wait, EarlyEnd } from '../../journal.ts';
import { toPromptId } from '../../question/question.ts';
import type { Complaint, Question } from '../../question/question.ts';
import { toShortId } from '../../session-id.ts';
import type { RunningTurn } from './running-turn.ts';
import type { Failure, Turn, TurnDraft, Verdict } from './turn.ts';

/** For a run that has stopped. */
export function draftTurn(runner: RunningTurn, rest: RunState): TurnDraft | Promise<TurnDraft> {
  if (rest.kind === 'asks') return unlessMistaken(runner, () => toAsked(runner, rest));
  if (rest.kind === 'ended') return toCompleted(runner, rest.value);
  return draftBroken(runner, (rest as { error: unknown }).error);
}

/** What the author asks, or returns, may not be what can be shown or kept. */
function unlessMistaken(runner: RunningTurn, draft: () => TurnDraft): TurnDraft {
  try {
    return draft();
  } catch (error) {
    return draftBroken(runner, withFlowName(toMistake('what it asks', error), runner.input.flow.name));
  }
}

/** An error of the author's code fails the session; a new version is set aside instead, as the one before may continue. */
function draftBroken(runner: RunningTurn, error: unknown): TurnDraft {
  const { flow, header, stored } = runner.input;
  const isOther = stored && header.version !== flow.version;
  const broken = isOther && toBrokenVersion(flow, error, runner.run.replayQueue.isReplaying);
  if (broken) throw broken;
  return draftFailure(runner, error);
}

/** Steps run, and open questions are asked. */
export function draftWorking(runner: RunningTurn, rest: RunState | undefined): TurnDraft {
  const isOpen = rest?.kind === 'steps' || rest?.kind === 'asks';
  if (!isOpen || (rest.asks.length === 0 && rest.waits.length === 0)) return toProcessing(runner);
  const asks = runner.input.context.lasting ? rest.asks : [];
  return unlessMistaken(runner, () => toAsked(runner, { asks, waits: rest.waits, isBusy: true }));
}

/** What is open, and whether steps run besides. */
type Open = Pick<Extract<RunState, { kind: 'asks' }>, 'asks' | 'waits' | 'isBusy'>;

function toAsked(runner: RunningTurn, { asks, waits: pending, isBusy }: Open): TurnDraft {
  const { context, incoming = [] } = runner.input;
  const { header } = runner.commits;
  const { folded } = runner.run.input;
  const now = context.clock.now();
  // Rejected answers are recorded once.
  const refused = runner.isLive ? [] : incoming.filter(isRefused);
  const { waits, add } = toWaits(runner.run, pending);
  for (const { k, a, verdict } of refused) {
    folded.attempts.set(k, a);
    add.push({ t: 'rej', k, a, why: (verdict as Complaint).error, ts: now });
  }
  const before = header.current as Question[];
  const isNew = ({ promptId, attempt }: Question) => attempt === 1 && !before.some((one) => one.promptId === promptId);
  const all = keepDeadlines(keepNotices(buildQuestions(runner.run, asks, toComplaints(refused)), before), before, now);
  const questions = withinLimit(runner, { asks, isNew, questions: all });
  const fresh = questions.filter(isNew).length;
  const over = toOver(runner, { fresh, refused });
  if (over) return draftFailure(runner, over);
  for (const { key: k, attempt: a } of before) {
    if (runner.run.isLost(k)) add.push({ t: 'rej', k, a, why: WITHDRAWN, ts: now });
  }
  const busy = isBusy ? (true as const) : undefined;
  const { timeoutMs, deadline } = header;
  const { lastActivityAt, expiresAt, warned } = toExpiry({ timeoutMs, deadline, waits, busy, current: questions }, now);
  const { lost } = runner.run;
  const isAsked = questions.length > 0;
  const patch: Partial<Header> = {
    lastActivityAt,
    expiresAt,
    warned,
    state: isAsked ? 'waiting_user' : toWorking(runner),
    current: questions,
    waits,
    busy,
    reason: undefined,
    pending: undefined,
    unasked: lost.length > 0 ? [...lost] : undefined,
    burst: header.burst,
    rounds: header.rounds + (isAsked ? 1 : 0),
    prompts: header.prompts + fresh,
    attempts: header.attempts + refused.length,
  };
  const turn: TurnDraft['turn'] = { ...toVerdicts(incoming), questions: callerQuestions({ current: questions }) };
  if (runner.run.progress) turn.progress = runner.run.progress;
  // While steps run, the due time is the end of the lease.
  const dueAt = isBusy ? undefined : toDueAt({ expiresAt, timeoutMs, waits, current: questions });
  return { patch, add, turn, dueAt };
}

/** The waits for the header, and entries for those that begin now. */
function toWaits(run: BodyRun, pending: readonly PendingWait[]): { waits: Wait[] | undefined; add: JournalEntry[] } {
  const add: JournalEntry[] = [];
  if (pending.length === 0) return { waits: undefined, add };
  const waits = pending.map(({ spec }): Wait => {
    const { key, kind } = spec;
    const ms = spec.kind === 'sleep' ? spec.sleepMs : spec.timeoutMs;
    if (ms === undefined) return { key, kind };
    const ts = run.since(key);
    if (!run.input.folded.intents.has(key)) add.push({ t: 'int', k: key, idem: '', sleep: true, ts });
    return { key, kind, until: ts + ms };
  });
  return { waits, add };
}

/** Questions that were asked before keep the state of their notices, and so do questions asked again after a rejected answer. */
function keepNotices(questions: Question[], before: readonly Question[]): Question[] {
  if (!questions.some(({ person }) => person)) return questions;
  return questions.map((question) => {
    const isSame = ({ promptId, key }: Question) =>
      promptId === question.promptId || (question.complaint !== undefined && key === question.key);
    const known = before.find(isSame)?.person;
    return known && known.principal === question.person?.principal ? { ...question, person: known } : question;
  });
}

/** A question that stays open keeps its first deadline. */
function keepDeadlines(questions: Question[], before: readonly Question[], now: number): Question[] {
  if (!questions.some(({ until }) => until !== undefined)) return questions;
  return questions.map((question) => {
    const { until = 0 } = before.find(({ promptId }) => promptId === question.promptId) ?? {};
    return question.until !== undefined && until > now ? { ...question, until } : question;
  });
}

const NO_COMPLAINTS: ReadonlyMap<string, Complaint> = new Map();

function toComplaints(refused: readonly IncomingAnswer[]): ReadonlyMap<string, Complaint> {
  return refused.length === 0 ? NO_COMPLAINTS : new Map(refused.map(({ k, verdict }) => [k, verdict as Complaint]));
}

interface Put {
  asks: readonly PendingQuestion[];
  questions: Question[];
  isNew: (question: Question) => boolean;
}

/** Drops questions asked ahead that would exceed the limit. */
function withinLimit(runner: RunningTurn, { asks, questions, isNew }: Put): Question[] {
  let room = toMaxPrompts(runner.input) - runner.commits.header.prompts;
  if (questions.length <= room) return questions;
  const asked = new Set(asks.map(({ spec }) => spec.key));
  return questions.filter((question) => (isNew(question) ? room-- > 0 : true) || asked.has(question.key));
}

export function toMaxPrompts({ flow, context }: Pick<RunningTurn['input'], 'flow' | 'context'>): number {
  return flow.options.limits?.prompts ?? context.limits.prompts;
}

export function tooManyPrompts(most: number): GatewayError {
  return new GatewayError('FLOW_LIMIT', { what: `no more than ${most} questions`, limit: 'prompts' });
}

interface Growth {
  fresh: number;
  refused: IncomingAnswer[];
}

/** The error if this turn exceeds a limit. */
function toOver(runner: RunningTurn, { fresh, refused }: Growth): GatewayError | undefined {
  const { flow, context } = runner.input;
  const { header } = runner.commits;
  const { limits } = context;
  const prompts = toMaxPrompts(runner.input);
  if (header.prompts + fresh > prompts) return tooManyPrompts(prompts);
  const perQuestion = flow.options.limits?.attempts ?? limits.attemptsPerQuestion;
  const { refusals } = runner.run.input.folded;
  const worn = refused.find(({ k }) => (refusals.get(k) ?? 0) + 1 >= perQuestion);
  if (worn || header.attempts + refused.length > limits.attempts) {
    const reason = `too many attempts${worn ? ` at ${worn.k}` : ''}`;
    return new GatewayError('FLOW_VALIDATION_FAILED', { sessionId: header.id, reason });
  }
  return undefined;
}

function toCompleted(runner: RunningTurn, value: unknown): TurnDraft | Promise<TurnDraft> {
  const { output } = runner.input.flow;
  return output ? toChecked(runner, value, output) : withResult(runner, value);
}

async function toChecked(
  runner: RunningTurn,
  value: unknown,
  output: NonNullable<AnyFlow['output']>,
): Promise<TurnDraft> {
  const { flow } = runner.input;
  const verdict = await awaitAuthor('its output schema', () => output.check(value)).catch((error: unknown) => ({
    error,
  }));
  if ('error' in verdict) return draftBroken(runner, withFlowName(verdict.error, flow.name));
  if (verdict.problems) {
    const reason = `its result does not fit its schema: ${toReason(verdict.problems)}`;
    return draftFailure(runner, new GatewayError('FLOW_FAILED', { tool: flow.name, reason }));
  }
  return withResult(runner, verdict.value);
}

/** A result that JSON would change, or cannot hold, fails the session like any other mistake: once, and with its effects undone. */
function withResult(runner: RunningTurn, value: unknown): TurnDraft {
  const { flow, context, incoming = [] } = runner.input;
  let result: unknown;
  try {
    result = toJsonValue(value, `the result of ${flow.name}`);
  } catch (error) {
    return draftBroken(runner, withFlowName(error, flow.name));
  }
  const summary = flow.options.summary ?? 'Completed successfully';
  return {
    patch: { state: 'completed', current: [], lastActivityAt: context.clock.now() },
    add: [],
    turn: { questions: [], result, summary, ...toVerdicts(incoming) },
  };
}

function toProcessing(runner: RunningTurn): TurnDraft {
  const { context, incoming = [] } = runner.input;
  const { header } = runner.commits;
  const now = context.clock.now();
  const patch: Partial<Header> = {
    state: toWorking(runner),
    current: [],
    lastActivityAt: now,
    waits: undefined,
    busy: undefined,
    burst: header.burst,
    reason: undefined,
    pending: undefined,
    // The user is not idle now, so only the deadline counts.
    expiresAt: header.deadline,
  };
  return { patch, add: [], turn: { questions: [], ...toVerdicts(incoming) } };
}

/** The state without open questions: `active` until the first question was asked. */
function toWorking({ input: { stored }, commits: { header } }: RunningTurn): Header['state'] {
  return stored && header.state !== 'idle' && header.state !== 'active' ? 'processing' : 'active';
}

export function draftFailure(runner: RunningTurn, error: unknown): TurnDraft {
  const { flow, context, incoming = [] } = runner.input;
  if (isMismatch(error)) throw error; // another version may continue it
  const failure = toFailure(error, flow.name);
  const session = toShortId(runner.commits.header.id);
  context.log.warn({ tool: flow.name, session, error, ...findPlace(error, flow.body) }, 'flow.failed');
  return {
    patch: {
      state: 'error',
      current: [],
      reason: REASONS[failure.name] ?? 'failed',
      lastActivityAt: context.clock.now(),
    },
    add: [],
    turn: { questions: [], failure, ...toVerdicts(incoming) },
  };
}

const REASONS: Record<string, string> = {
  FLOW_EFFECT_UNKNOWN: 'effect_unknown',
  FLOW_TIMEOUT: 'timeout',
  FLOW_LIMIT: 'limit',
  FLOW_VALIDATION_FAILED: 'attempts',
};

/** Our errors keep their code. Errors of the author keep their message, which is meant for the user. */
function toFailure(error: unknown, tool: string): Failure {
  if (error instanceof GatewayError) {
    return { name: error.code, message: error.message, data: readData(() => error.details) };
  }
  const { name, message, data } = toErrorEntry(error);
  return { name, message: message === '' ? `${tool} failed` : message, ...(data !== undefined && { data }) };
}

/** The session is being ended; written before its effects are undone. */
export function draftEnding({ input, commits }: RunningTurn, ending: EarlyEnd): TurnDraft {
  const isKnown = earlyEndOf(commits.header) !== undefined;
  const open = { current: [], waits: undefined, busy: undefined };
  const patch = { state: 'processing' as const, ...open, pending: ending };
  const add: JournalEntry[] = isKnown ? [] : [{ t: 'end', why: endReason(ending), ts: input.context.clock.now() }];
  return { patch, add, turn: { questions: [], ...toVerdicts(input.incoming ?? []) } };
}

/** The session has ended. */
export function draftEnded(
  { input: { context } }: RunningTurn,
  { kind, reason }: EarlyEnd,
  { turn, notUndone }: { turn: TurnDraft['turn']; notUndone?: string[] | undefined },
): TurnDraft {
  const state = kind === 'cancel' ? ('cancelled' as const) : ('error' as const);
  const lastActivityAt = context.clock.now();
  return { patch: { state, reason, current: [], pending: undefined, lastActivityAt, notUndone }, add: [], turn };
}

export function toVerdicts(incoming: (IncomingAnswer | IncomingEvent)[]): Pick<Turn, 'accepted' | 'verdicts'> {
  let accepted: boolean | undefined;
  const verdicts: Record<string, Verdict> = {};
  for (const one of incoming) {
    if (one.t === 'arr' || one.a === 0) continue;
    const { k, a, verdict } = one;
    accepted = accepted !== false && !isComplaint(verdict);
    verdicts[toPromptId(k, a)] = isComplaint(verdict) ? { valid: false, ...verdict } : { valid: true };
  }
  return accepted === undefined ? {} : { accepted, verdicts };
}

export function isRefused(one: IncomingAnswer | IncomingEvent): one is IncomingAnswer {
  return one.t === 'in' && isComplaint(one.verdict);
}

function isComplaint(verdict: IncomingAnswer['verdict']): verdict is Complaint {
  return typeof verdict === 'object';
}

/** Progress that must be sent before steps start. Otherwise it goes with the next question. */
export function takeNewProgress(run: BodyRun): PromptStep | undefined {
  const { progress, isProgressNew } = run;
  run.isProgressNew = false;
  return isProgressNew ? progress : undefined;
}
