// Handles an answer or event for a session that another process holds. This process validates it with a run of the body, appends it to
// the journal, and leaves the rest of the turn to the holder (`TurnRunner`). So the journal has everything in order of arrival.
import type { IncomingAnswer } from '../../engine/match-answer.ts';
import type { RunState } from '../../engine/run-state.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import type { Complaint, Question } from '../../question/question.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { TurnRunner } from '../turn/turn-runner.ts';
import { isRefused, toVerdicts } from '../turn/turn-changes.ts';
import { buildQuestions } from '../turn/build-questions.ts';
import { isAtRest, callerQuestions } from '../../header.ts';
import type { Turn } from '../turn/turn.ts';

/** Undefined if another writer was faster. */
export async function leaveToHolder(runner: TurnRunner, rest: RunState): Promise<Turn | undefined> {
  const { input, run, commits } = runner;
  const { context, prefix = [], incoming = [] } = input;
  const { header } = commits;
  const now = context.clock.now();
  const came = run.take().filter(({ t }) => t === 'ans' || t === 'evt');
  const refused = incoming.filter(isRefused);
  refuseWorn(runner, refused);
  const rejected = refused.map(({ k, a, verdict }): JournalEntry => {
    return { t: 'rej', k, a, why: (verdict as Complaint).error, ts: now };
  });
  const over = new Set([...prefix, ...came].map((entry) => ('k' in entry ? entry.k : '')));
  const again = askedAgain(runner, rest, refused);
  const current = (header.current as Question[]).flatMap((one) =>
    over.has(one.key) ? [] : [again.get(one.key) ?? one],
  );
  const open = (header.waits ?? []).filter(({ key }) => !over.has(key));
  const waits = open.length > 0 ? open : undefined;
  // The holder of an idle session does nothing more with it, so the next process takes over as if the holder had died.
  const busy = isAtRest(header) ? (true as const) : header.busy;
  const patch: Partial<Header> = {
    current,
    waits,
    busy,
    state: toState(header, current),
    lastActivityAt: now,
    left: (header.left ?? 0) + 1,
    burst: input.header.burst,
    attempts: header.attempts + refused.length,
  };
  // If the holder has died, the next one finds this.
  const written = await commits.write(patch, [...prefix, ...came, ...rejected], { dueAt: now + context.leaseMs });
  if (!written.header) return undefined;
  input.host.onLeft(header.id);
  return {
    header: written.header,
    questions: callerQuestions({ current }),
    ...toVerdicts(incoming),
    ...input.host.laterTurn(written.header),
  };
}

function toState({ state }: Header, current: Question[]): Header['state'] {
  if (current.length > 0) return 'waiting_user';
  return state === 'waiting_user' ? 'processing' : state;
}

function askedAgain({ run }: TurnRunner, rest: RunState, refused: IncomingAnswer[]): Map<string, Question> {
  const complaints = new Map(refused.map(({ k, verdict }) => [k, verdict as Complaint]));
  for (const { k, a } of refused) run.input.folded.attempts.set(k, a);
  const asks = rest.kind === 'asks' || rest.kind === 'steps' ? rest.asks : [];
  const questions = buildQuestions(
    run,
    asks.filter(({ spec }) => complaints.has(spec.key)),
    complaints,
  );
  return new Map(questions.map((question) => [question.key, question]));
}

function refuseWorn({ commits, input: { context } }: TurnRunner, refused: IncomingAnswer[]): void {
  const { attempts, id: sessionId } = commits.header;
  if (attempts + refused.length <= context.limits.attempts) return;
  throw new GatewayError('FLOW_VALIDATION_FAILED', { sessionId, reason: 'too many attempts' });
}
