// What each outcome of a run does to its session: the patch of the header, the entries, and what is told of it.
import type { Incoming } from '../engine/fit.ts';
import { isMismatch } from '../engine/mismatch.ts';
import type { Run } from '../engine/run.ts';
import type { AskWant } from '../engine/want.ts';
import { toWritten } from '../engine/thrown.ts';
import type { Entry, Header } from '../journal.ts';
import type { Complaint, Question } from '../question/question.ts';
import { GatewayError } from '../../shared/errors.ts';
import { toReason } from '../../protocol/json-schema-problem.ts';
import type { Step } from '../../protocol/prompt.ts';
import { toPromptId } from '../question/question.ts';
import type { Drive } from './drive.ts';
import { toDueAt, toExpiry } from './timing.ts';
import { toQuestions } from './to-questions.ts';
import type { Failure, Turn, Verdict } from './turn.ts';

export interface Draft {
  patch: Partial<Header>;
  add: Entry[];
  turn: Omit<Turn, 'header'>;
  dueAt?: number | undefined;
}

/** What the body says of how far it is goes with its next question. Where steps come first, it is told before them. */
export function newProgressOf(run: Run): Step | undefined {
  const { progress, isProgressNew } = run;
  run.isProgressNew = false;
  return isProgressNew ? progress : undefined;
}

export function toAsked(drive: Drive, asks: AskWant[]): Draft {
  const { setup, header, incoming = [] } = drive.input;
  const { folded } = drive.run.input;
  const now = setup.clock.now();
  const refused = incoming.filter(({ verdict }) => isComplaint(verdict));
  const add: Entry[] = [];
  const complaints = new Map<string, Complaint>();
  for (const { k, a, verdict } of refused) {
    folded.attempts.set(k, a);
    complaints.set(k, verdict as Complaint);
    add.push({ t: 'rej', k, a, why: (verdict as Complaint).error, ts: now });
  }
  const before = header.current as Question[];
  const isNew = ({ promptId, attempt }: Question) => attempt === 1 && !before.some((one) => one.promptId === promptId);
  const questions = withinLimit(drive, { asks, isNew, questions: toQuestions(drive.run, asks, complaints) });
  const fresh = questions.filter(isNew).length;
  const over = toOver(drive, { fresh, refused });
  if (over) return toFailed(drive, over);
  const { lastActivityAt, expiresAt, warned } = toExpiry(header, now);
  const { lost } = drive.run;
  const patch: Partial<Header> = {
    lastActivityAt,
    expiresAt,
    warned,
    state: 'waiting_user',
    current: questions,
    reason: undefined,
    pending: undefined,
    unasked: lost.length > 0 ? lost : undefined,
    burst: header.burst,
    rounds: header.rounds + 1,
    prompts: header.prompts + fresh,
    attempts: header.attempts + refused.length,
  };
  const turn: Draft['turn'] = { ...toVerdicts(incoming), questions };
  if (drive.run.progress) turn.progress = drive.run.progress;
  const { timeoutMs } = header;
  return { patch, add, turn, dueAt: toDueAt({ expiresAt, timeoutMs, current: questions }) };
}

export async function toCompleted(drive: Drive, value: unknown): Promise<Draft> {
  const { flow, incoming = [] } = drive.input;
  const verdict = await flow.output?.check(value);
  if (verdict?.problems) {
    const reason = `its result does not fit its schema: ${toReason(verdict.problems)}`;
    return toFailed(drive, new GatewayError('FLOW_FAILED', { tool: flow.name, reason }));
  }
  const result = verdict ? verdict.value : value;
  const summary = flow.options.summary ?? 'Completed successfully';
  return {
    patch: { state: 'completed', current: [], lastActivityAt: drive.input.setup.clock.now() },
    add: [],
    turn: { questions: [], result, summary, ...toVerdicts(incoming) },
  };
}

export function toFailed(drive: Drive, error: unknown): Draft {
  const { flow, setup, incoming = [] } = drive.input;
  if (isMismatch(error)) throw error; // another version can still go on with it
  const failure = toFailure(error, flow.name);
  setup.log.warn({ tool: flow.name, error }, 'flow.failed');
  return {
    patch: {
      state: 'error',
      current: [],
      reason: REASONS[failure.name] ?? 'failed',
      lastActivityAt: setup.clock.now(),
    },
    add: [],
    turn: { questions: [], failure, ...toVerdicts(incoming) },
  };
}

export function toProcessing(drive: Drive): Draft {
  const { header, setup, incoming = [], stored } = drive.input;
  const now = setup.clock.now();
  const patch: Partial<Header> = {
    ...{ state: stored && !isUnasked(header) ? 'processing' : 'active', current: [], lastActivityAt: now },
    ...{ burst: header.burst, reason: undefined, pending: undefined },
    // It is not the user who is idle now.
    expiresAt: header.deadline,
  };
  return { patch, add: [], turn: { questions: [], ...toVerdicts(incoming) } };
}

/** It has not come to its first question. */
function isUnasked({ state }: Header): boolean {
  return state === 'idle' || state === 'active';
}

export function toVerdicts(incoming: Incoming[]): Pick<Turn, 'accepted' | 'verdicts'> {
  let accepted: boolean | undefined;
  const verdicts: Record<string, Verdict> = {};
  for (const { k, a, verdict } of incoming) {
    if (a === 0) continue;
    accepted = accepted !== false && !isComplaint(verdict);
    verdicts[toPromptId(k, a)] = isComplaint(verdict) ? { valid: false, ...verdict } : { valid: true };
  }
  return accepted === undefined ? {} : { accepted, verdicts };
}

const REASONS: Record<string, string> = {
  FLOW_EFFECT_UNKNOWN: 'effect_unknown',
  FLOW_TIMEOUT: 'timeout',
  FLOW_LIMIT: 'limit',
  FLOW_VALIDATION_FAILED: 'attempts',
};

/** What is of ours keeps its code; what is of the author's keeps its words, which are meant for the user. */
function toFailure(error: unknown, tool: string): Failure {
  if (error instanceof GatewayError) return { name: error.code, message: error.message, data: error.details };
  const { name, message, data } = toWritten(error);
  return { name, message: message === '' ? `${tool} failed` : message, ...(data !== undefined && { data }) };
}

interface Put {
  asks: readonly AskWant[];
  questions: Question[];
  isNew: (question: Question) => boolean;
}

/** What could be asked ahead is left for later where it would be one too many. */
function withinLimit(drive: Drive, { asks, questions, isNew }: Put): Question[] {
  const asked = new Set(asks.map(({ spec }) => spec.key));
  let room = toMaxPrompts(drive) - drive.input.header.prompts;
  return questions.filter((question) => (isNew(question) ? room-- > 0 : true) || asked.has(question.key));
}

function toMaxPrompts({ input: { flow, setup } }: Drive): number {
  return flow.options.limits?.prompts ?? setup.limits.prompts;
}

interface Growth {
  fresh: number;
  refused: Incoming[];
}

/** A limit that this turn would go beyond. */
function toOver(drive: Drive, { fresh, refused }: Growth): GatewayError | undefined {
  const { header, flow, setup } = drive.input;
  const { limits } = setup;
  const prompts = toMaxPrompts(drive);
  if (header.prompts + fresh > prompts) {
    return new GatewayError('FLOW_LIMIT', { what: `no more than ${prompts} questions`, limit: 'prompts' });
  }
  const perQuestion = flow.options.limits?.attempts ?? limits.attemptsPerQuestion;
  const { refusals } = drive.run.input.folded;
  const worn = refused.find(({ k }) => (refusals.get(k) ?? 0) + 1 >= perQuestion);
  if (worn || header.attempts + refused.length > limits.attempts) {
    const reason = `too many attempts${worn ? ` at ${worn.k}` : ''}`;
    return new GatewayError('FLOW_VALIDATION_FAILED', { sessionId: header.id, reason });
  }
  return undefined;
}

function isComplaint(verdict: Incoming['verdict']): verdict is Complaint {
  return typeof verdict === 'object';
}
