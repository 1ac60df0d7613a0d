// A session that one process holds while another gets something for it. The other process validates an answer or event with a run of the body,
// appends it to the journal, and leaves the rest of the turn to the holder. So the journal has everything in order of arrival.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { IncomingAnswer } from '../../engine/run-input.ts';
import type { RunState } from '../../engine/pending-ask.ts';
import { buildQuestions } from '../../engine/build-questions.ts';
import { isAtRest, callerQuestions, earlyEndOf, isEnded, nextDeadline, nextNoticeAt } from '../../header.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import type { Complaint, Question } from '../../question/question.ts';
import type { Commits } from './commits.ts';
import { isRefused, toVerdicts } from './turn-changes.ts';
import type { RunningTurn } from './running-turn.ts';
import type { TurnInput } from './turn-request.ts';
import type { Turn } from './turn.ts';

/** Undefined if another writer was faster. */
export async function leaveToHolder(runner: RunningTurn, rest: RunState): Promise<Turn | undefined> {
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
  if (!written) return undefined;
  input.host.onLeft(header.id);
  return {
    header: written,
    questions: callerQuestions({ current }),
    ...toVerdicts(incoming),
    ...input.host.laterTurn(written),
  };
}

function toState({ state }: Header, current: Question[]): Header['state'] {
  if (current.length > 0) return 'waiting_user';
  return state === 'waiting_user' ? 'processing' : state;
}

function askedAgain({ run }: RunningTurn, rest: RunState, refused: IncomingAnswer[]): Map<string, Question> {
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

function refuseWorn({ commits, input: { context } }: RunningTurn, refused: IncomingAnswer[]): void {
  const { attempts, id: sessionId } = commits.header;
  if (attempts + refused.length <= context.limits.attempts) return;
  throw new GatewayError('FLOW_VALIDATION_FAILED', { sessionId, reason: 'too many attempts' });
}

const LOOK_MS = 1000;

/**
 * Watches a session while this process holds it and it also waits: for timeouts, which no other process handles for a held session, and for
 * entries that other processes append for this one.
 */
export class HolderWatch {
  readonly #input: TurnInput;
  readonly #commits: Commits;
  readonly #onLeft: () => void;
  #offDue = (): void => {};
  #offLook = (): void => {};
  #isStopped = false;

  constructor(input: TurnInput, commits: Commits, onLeft: () => void) {
    this.#input = input;
    this.#commits = commits;
    this.#onLeft = onLeft;
  }

  /** Call after each write. */
  set(header: Header): void {
    this.#offDue();
    this.#offLook();
    if (this.#isStopped || !header.busy) return;
    const { clock, store } = this.#input.context;
    const at = Math.min(nextDeadline(header), nextNoticeAt(header));
    if (at < Infinity) {
      this.#offDue = clock.after(Math.max(at - clock.now(), 0), () => this.#input.host.onDue(header.id));
    }
    if (store.durable) this.#lookLater(header.id);
  }

  stop(): void {
    this.#isStopped = true;
    this.#offDue();
    this.#offLook();
  }

  #lookLater(id: string): void {
    if (this.#isStopped) return;
    this.#offLook = this.#input.context.clock.after(LOOK_MS, () => void this.#look(id));
  }

  async #look(id: string): Promise<void> {
    // An unavailable store is read again later.
    const found = await this.#input.context.store.load(id).catch(() => undefined);
    const { left } = this.#commits.header;
    if (found && !isEnded(found.header) && (found.header.left !== left || earlyEndOf(found.header))) this.#onLeft();
    this.#lookLater(id);
  }
}
