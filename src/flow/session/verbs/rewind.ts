// Goes back to an earlier question, or changes an earlier answer. Both append an entry and run the body again. Effects after the question
// must be undone first; if one cannot be undone, the request is refused.
import { transition } from '../../../mcp/flow/flow-states.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { shorten } from '../../../kernel/base/visible.ts';
import type { AnyFlow } from '../../define.ts';
import { BodyRun } from '../../engine/body-run.ts';
import { toQuestionField } from '../../engine/question-spec.ts';
import type { QuestionSpec } from '../../engine/question-spec.ts';
import { fold } from '../../fold.ts';
import { PREFILLED, WITHDRAWN } from '../../journal.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { checkAnswer } from '../../question/check-answer.ts';
import type { Complaint, Question } from '../../question/question.ts';
import type { StoredSession } from '../../store/store.ts';
import { findStoredEffects, undoRound, maxUndoAttempts, pauseBeforeUndo } from '../turn/undo-effects.ts';
import type { Effect } from '../turn/undo-effects.ts';
import type { SessionContext } from '../context/session-context.ts';
import type { SessionHost } from '../turn/turn-request.ts';
import { Commits } from '../turn/commits.ts';
import { TurnRunner } from '../turn/turn-runner.ts';
import type { Turn } from '../turn/turn.ts';
import { storeApart } from '../values/secrets.ts';
import { openStored } from '../values/load-session.ts';
import { rejectHostileValue } from './receive-answers.ts';

/** Few, because the user waits. */
const ATTEMPTS = 3;

type Change = Extract<JournalEntry, { t: 'cut' | 'edit' }>;

interface RewindRequest {
  flow: AnyFlow;
  stored: StoredSession;
  entry: Change;
}

/** Undefined if another writer was faster. */
export async function rewind(sessions: SessionHost, { flow, stored, entry }: RewindRequest): Promise<Turn | undefined> {
  const { context } = sessions;
  transition(stored.header, 'respond');
  if (stored.header.busy) throw refused(stored.header, 'a step is running; wait until it is done');
  const change = toChange(stored, entry);
  if (change.t === 'cut') return undoAndRewind(sessions, { flow, stored, entry: change });
  rejectHostileValue(change.v, stored.header.id, context.limits);
  const taken = await receiveEdit(context, { flow, stored, entry: change });
  const complaint = 'complaint' in taken ? taken.complaint : await tryOut(sessions, { flow, stored, ...taken });
  if (!('complaint' in taken) && !complaint) return undoAndRewind(sessions, { flow, stored, ...taken });
  const verdicts = { [change.k]: { valid: false as const, ...complaint! } };
  return { accepted: false, verdicts, header: stored.header, questions: stored.header.current as Question[] };
}

/** Undoes the effects after the question, then appends the entry. */
export async function undoAndRewind(
  sessions: SessionHost,
  { flow, stored, entry }: RewindRequest,
): Promise<Turn | undefined> {
  const { context } = sessions;
  const effects = effectsAfter(stored, entry.k, await findStoredEffects({ context, flow }, stored));
  if (effects.length === 0)
    return sessions.runTurn({ flow, ...stored, prefix: [...withdrawn(stored), entry], stored: true });
  const gone = withdrawn(stored);
  const left = await undoneAll(sessions, { flow, stored, entry }, effects);
  const loaded = left && (await context.store.load(stored.header.id));
  if (!loaded) return undefined;
  const after = openStored(context, loaded, flow);
  if (left.length === 0) return sessions.runTurn({ flow, ...after, prefix: [...gone, entry], stored: true });
  const keys = left.map(({ key }) => key).join(', ');
  const error = new GatewayError('FLOW_FAILED', { tool: flow.name, reason: `${keys} could not be undone` });
  const failure = { name: error.code, message: error.message };
  return sessions.end(after, flow, { kind: 'fail', reason: 'undo_failed', failure });
}

/** Returns the effects that could not be undone. Undefined if another writer was faster. */
async function undoneAll(
  { context }: SessionHost,
  change: RewindRequest,
  effects: Effect[],
): Promise<Effect[] | undefined> {
  const { flow, stored, entry } = change;
  const commits = new Commits(context, stored.header, true);
  const pending = { kind: entry.t, entry };
  const header = await commits.writeAndTakeLease({ state: 'processing', current: [], pending }, []);
  if (!header) return undefined;
  try {
    const { signal } = new AbortController();
    const undoing = { context, flow, header, commits, signal, folded: fold(stored.entries) };
    let left = effects;
    for (let tries = 0; ;) {
      left = await undoRound(undoing, left, tries++, true);
      if (left.length === 0 || tries >= Math.min(maxUndoAttempts(context), ATTEMPTS)) return left;
      await pauseBeforeUndo(context, tries);
    }
  } finally {
    await commits.releaseLease();
  }
}

/** Withdraws the open questions, which may come again with another text and attempt number. */
function withdrawn({ header: { current }, entries }: StoredSession): JournalEntry[] {
  const ts = entries.at(-1)?.ts ?? 0;
  return (current as Question[]).map(({ key: k, attempt: a }) => ({ t: 'rej', k, a, why: WITHDRAWN, ts }));
}

/** Finds the answer to change; default: the last one. */
function toChange({ header, entries }: StoredSession, entry: Change): Change {
  const { entries: folded } = fold(entries);
  const answers = folded.filter((one) => one.t === 'ans' && one.ty !== PREFILLED);
  const target = entry.k === '' ? answers.at(-1) : answers.find(({ k }) => k === entry.k);
  if (target?.t === 'ans' && target.who !== undefined && entry.t === 'edit') {
    throw refused(header, `${target.k} was answered by another person, so you cannot change it`);
  }
  if (target) return { ...entry, k: target.k };
  const person = (header.current as Question[]).find(({ key }) => key === entry.k)?.person;
  if (person && !person.orCaller) throw refused(header, `${entry.k} is for ${person.principal} to answer`);
  const prefilled = entry.t === 'edit' && folded.some(({ k }) => k === entry.k);
  if (prefilled) return entry;
  throw refused(header, entry.k === '' ? 'nothing has been answered yet' : `${shorten(entry.k)} has not been answered`);
}

function effectsAfter({ header, entries }: StoredSession, key: string, effects: Effect[]): Effect[] {
  const { entries: folded } = fold(entries);
  const from = folded.findLastIndex((one) => one.t === 'ans' && one.k === key);
  const later = new Set(folded.slice(from).flatMap((one) => (one.t === 'step' ? [one.k] : [])));
  const crossed = effects.filter(({ key }) => later.has(key));
  const final = crossed.find(({ spec }) => spec?.options.undo === undefined);
  if (final) throw refused(header, `${final.key} is done and cannot be undone`);
  return crossed;
}

/** Validates the new answer without writing. */
async function tryOut(sessions: SessionHost, { flow, stored, entry }: RewindRequest): Promise<Complaint | undefined> {
  const trial = new TurnRunner(sessions, { flow, ...stored, prefix: [entry], stored: true }, undefined);
  await trial.run.next();
  return trial.run.refused.get(entry.k);
}

function refused({ id, state }: Header, reason: string): GatewayError {
  return new GatewayError('FLOW_INVALID_TRANSITION', { sessionId: id, state, reason });
}

type Edit = Extract<JournalEntry, { t: 'edit' }>;

interface Editing {
  flow: AnyFlow;
  stored: StoredSession;
  entry: Edit;
}

/** A new secret or file is checked against its question and stored as a blob, like the first one; a reference from a client is never trusted. */
async function receiveEdit(
  context: SessionContext,
  { flow, stored, entry }: Editing,
): Promise<{ entry: Edit } | { complaint: Complaint }> {
  const spec = await specOf(context, { flow, stored, entry });
  const isSecret = spec?.options.secret === true;
  if (!spec || (spec.kind !== 'file' && !isSecret)) return { entry };
  const checked = checkAnswer(
    entry.v,
    toQuestionField(spec, { catalogue: flow.options.messages, locale: stored.header.locale }),
  );
  if ('complaint' in checked) return checked;
  const apart = await storeApart(context, stored.header, { isSecret, value: checked.value });
  return { entry: apart ? { ...entry, v: apart.ref } : entry };
}

/** The question as the body asks it; undefined if it no longer does. */
async function specOf(context: SessionContext, { flow, stored, entry }: Editing): Promise<QuestionSpec | undefined> {
  const { id: sessionId, locale } = stored.header;
  const folded = fold(stored.entries);
  const run = new BodyRun({ flow, folded, sessionId, locale }, { checks: 'off', now: context.clock.now() });
  await run.next();
  return run.answered.find((spec) => spec.key === entry.k);
}
