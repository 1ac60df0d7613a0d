// Answers a session: for a request of its client, and for what answers without one, such as a timeout or an operator.
import type { AnyFlow } from '../../define.ts';
import type { IncomingAnswer } from '../../engine/run-input.ts';
import { callerQuestions, isIdle } from '../../header.ts';
import type { Header } from '../../journal.ts';
import type { SessionChange, StoredSession } from '../../store/store.ts';
import { withOutcome, withTrail } from '../turn/ended-record.ts';
import { toTombstoneMs } from '../context/flow-limits.ts';
import type { SessionHost } from '../turn/turn-request.ts';
import type { Turn } from '../turn/turn.ts';
import { OWNER_KEY, answerForOwner } from './owner.ts';
import { endsSession, receiveAnswers, runAnswer, toCancelReason } from './receive-answers.ts';
import type { AnswerRequest } from '../context/requests.ts';

interface Answering {
  stored: StoredSession;
  flow: AnyFlow;
  request: AnswerRequest;
  /** Another process may hold the session, although nothing of it runs. */
  mayBeHeld?: boolean | undefined;
}

/** Undefined if another writer was faster. */
export async function answerSession(
  host: SessionHost,
  { stored, flow, request, mayBeHeld = false }: Answering,
): Promise<Turn | undefined> {
  const coming = receiveAnswers(host.context, stored, request);
  const taken = coming instanceof Promise ? await coming : coming;
  if (taken.again) return { ...toPresentTurn(host, stored.header), accepted: true, verdicts: taken.again };
  const end = taken.incoming.find(endsSession);
  if (end) return host.end(stored, flow, { kind: 'cancel', reason: toCancelReason(end) });
  const [first] = taken.incoming;
  if (first?.k === OWNER_KEY) return answeredForOwner(host, taken.header, first);
  return runAnswer(host, { flow, stored, taken, mayBeHeld });
}

async function answeredForOwner(host: SessionHost, header: Header, answer: IncomingAnswer): Promise<Turn | undefined> {
  const { clock, leaseMs } = host.context;
  const now = clock.now();
  const { header: next, turn } = answerForOwner(header, answer, now);
  const done = await writeHeader(host, { header, next }, { dueAt: now + leaseMs });
  return done && { ...done, ...turn };
}

/** The current state, with the turn that follows without a request. */
export function toPresentTurn(host: SessionHost, header: Header): Turn {
  const next = host.nextOf(header);
  return {
    header,
    questions: callerQuestions(header),
    ...withOutcome(host.context, header),
    ...(next && { next }),
    ...(isIdle(header) && host.laterTurn(header)),
  };
}

/** Writes a header that changes without a run of the body. Undefined if another writer was faster. */
export async function writeHeader(
  host: SessionHost,
  { header, next }: { header: Header; next: Header },
  options: Omit<SessionChange, 'patch'> = {},
): Promise<Turn | undefined> {
  const { store, limits } = host.context;
  const change = {
    patch: await withTrail(host.context, next),
    ...options,
    tombstoneMs: toTombstoneMs(limits, header),
  };
  const done = await store.commit(header.id, header.rev, change);
  if (!done.ok) return undefined;
  host.context.counts.wrote(header, next, []);
  host.expect(next);
  return { header: { ...next, rev: done.rev }, questions: callerQuestions(next) };
}
