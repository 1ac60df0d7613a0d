// What a session waits for beside answers: sleeps that pass, and events that come. They lie in its header, so that nobody has to stay at work
// for them; the due index of the store tells when the next one is over.
import type { BodyRun } from '../../engine/body-run.ts';
import type { PendingWait } from '../../engine/pending-ask.ts';
import type { JournalEntry, Header, Wait } from '../../journal.ts';
import type { Question } from '../../question/question.ts';
import { isEnded } from '../../store/store.ts';
import type { TurnInput } from '../turn/turn-input.ts';
import type { Turn } from '../turn/turn.ts';

/** For the header; and what is written down because it begins only now. */
export function toWaits(
  run: BodyRun,
  wants: readonly PendingWait[],
): { waits: Wait[] | undefined; add: JournalEntry[] } {
  const add: JournalEntry[] = [];
  if (wants.length === 0) return { waits: undefined, add };
  const waits = wants.map(({ spec }): Wait => {
    const { key, kind } = spec;
    const ms = spec.kind === 'sleep' ? spec.sleepMs : spec.timeoutMs;
    if (ms === undefined) return { key, kind };
    const ts = run.since(key);
    if (!run.input.folded.intents.has(key)) add.push({ t: 'int', k: key, idem: '', sleep: true, ts });
    return { key, kind, until: ts + ms };
  });
  return { waits, add };
}

/** The questions that are the caller's to answer. */
export function callerQuestions({ current }: Pick<Header, 'current'>): Question[] {
  return (current as Question[]).filter(({ person }) => !person || person.orCaller === true);
}

/** A question that has waited beside others, of which one was answered, waits no longer for that. */
export function keepDeadlines(questions: Question[], before: readonly Question[], now: number): Question[] {
  if (!questions.some(({ until }) => until !== undefined)) return questions;
  return questions.map((question) => {
    const { until = 0 } = before.find(({ promptId }) => promptId === question.promptId) ?? {};
    return question.until !== undefined && until > now ? { ...question, until } : question;
  });
}

/** When the next question or wait has waited long enough; Infinity where none has an end. */
export function nextDeadline({ current, waits = [] }: Pick<Header, 'current' | 'waits'>): number {
  let at = Infinity;
  for (const { until } of current as Question[]) if (until !== undefined && until < at) at = until;
  for (const { until } of waits) if (until !== undefined && until < at) at = until;
  return at;
}

export interface OverdueWaits {
  questions: Question[];
  waits: Wait[];
}

/** Those whose time was over first. The others are looked at after that: they may have lost a race by then. */
export function findOverdue(header: Header, now: number): OverdueWaits | undefined {
  const at = nextDeadline(header);
  if (at > now) return undefined;
  const isFirst = ({ until }: { until?: number | undefined }) => until === at;
  const questions = (header.current as Question[]).filter(isFirst);
  return { questions, waits: questions.length > 0 ? [] : (header.waits ?? []).filter(isFirst) };
}

/** What is written down of a wait that is over. */
export function toElapsedEntry({ key: k, kind }: Wait, ts: number): JournalEntry {
  return kind === 'sleep' ? { t: 'step', k, att: 1, ts } : { t: 'evt', k, no: 'timeout', ts };
}

/** Nobody is at work in it: it asks something, or waits. The process that brought it there may not have let go of its lease yet. */
export function isAtRest(header: Header): boolean {
  const { current, waits, busy } = header;
  return !isEnded(header) && busy === undefined && (current.length > 0 || waits !== undefined);
}

/** Nobody is at work in it, and it asks nothing: it goes on when a sleep is over, or something happens. */
export function isIdle(header: Header): boolean {
  return isAtRest(header) && header.current.length === 0;
}

/** It goes on by what others do, perhaps in another process. */
export function waitsForOthers({ waits, busy, current }: Pick<Header, 'waits' | 'busy' | 'current'>): boolean {
  return waits !== undefined || busy === true || (current as Question[]).some(({ person }) => person !== undefined);
}

/** Somebody else has to do something. */
export function waitsForPeopleOrEvents({ waits = [], current }: Header): boolean {
  return waits.some(({ kind }) => kind === 'event') || (current as Question[]).some(({ person }) => person);
}

/** What follows, where it waits for others and asks nothing. Of what happens outside nothing is told to a session that is kept nowhere. */
export function toLaterTurn(
  { following, setup }: Pick<TurnInput, 'following' | 'setup'>,
  header: Header,
): Pick<Turn, 'later'> {
  const isWaiting = !isEnded(header) && callerQuestions(header).length === 0 && waitsForOthers(header);
  const canFollow = setup.lasting || !waitsForPeopleOrEvents(header);
  return following && isWaiting && canFollow ? { later: () => following(header) } : {};
}
