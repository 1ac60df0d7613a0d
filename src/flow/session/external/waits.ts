// Sleeps and events that a session waits for. They are stored in its header, so that no process has to run for them; the due index of the
// store knows when the next one ends.
import type { BodyRun } from '../../engine/body-run.ts';
import type { PendingWait } from '../../engine/pending-ask.ts';
import type { JournalEntry, Header, Wait } from '../../journal.ts';
import type { Question } from '../../question/question.ts';
import { isEnded } from '../../store/store.ts';
import type { TurnHost } from '../turn/turn-input.ts';
import type { Turn } from '../turn/turn.ts';

/** The waits for the header, and entries for those that begin now. */
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

/** The open questions that the caller may answer. */
export function callerQuestions({ current }: Pick<Header, 'current'>): Question[] {
  return (current as Question[]).filter(({ person }) => !person || person.orCaller === true);
}

/** A question that stays open keeps its first deadline. */
export function keepDeadlines(questions: Question[], before: readonly Question[], now: number): Question[] {
  if (!questions.some(({ until }) => until !== undefined)) return questions;
  return questions.map((question) => {
    const { until = 0 } = before.find(({ promptId }) => promptId === question.promptId) ?? {};
    return question.until !== undefined && until > now ? { ...question, until } : question;
  });
}

/** The earliest deadline of a question or wait; Infinity without any deadline. */
export function nextDeadline({ current, waits = [] }: Pick<Header, 'current' | 'waits'>): number {
  let at = Infinity;
  for (const { until } of current as Question[]) if (until !== undefined && until < at) at = until;
  for (const { until } of waits) if (until !== undefined && until < at) at = until;
  return at;
}

/** A question or wait has timed out. */
export function hasOverdue(header: Header, now: number): boolean {
  return nextDeadline(header) <= now;
}

export interface OverdueWaits {
  questions: Question[];
  waits: Wait[];
}

/** What has timed out first. The rest is checked after that, since it may have lost a race by then. */
export function findOverdue(header: Header, now: number): OverdueWaits | undefined {
  const at = nextDeadline(header);
  if (at > now) return undefined;
  const isFirst = ({ until }: { until?: number | undefined }) => until === at;
  const questions = (header.current as Question[]).filter(isFirst);
  return { questions, waits: questions.length > 0 ? [] : (header.waits ?? []).filter(isFirst) };
}

/** The entry of a wait that has ended. */
export function toElapsedEntry({ key: k, kind }: Wait, ts: number): JournalEntry {
  return kind === 'sleep' ? { t: 'step', k, att: 1, ts } : { t: 'evt', k, no: 'timeout', ts };
}

/** No process runs it: it asks or waits. The last process may still hold its lease. */
export function isAtRest(header: Header): boolean {
  const { current, waits, busy } = header;
  return !isEnded(header) && busy === undefined && (current.length > 0 || waits !== undefined);
}

/** No process runs it and no question is open: a sleep or an event continues it. */
export function isIdle(header: Header): boolean {
  return isAtRest(header) && header.current.length === 0;
}

/** Something other than the caller's answer may continue it, perhaps in another process. */
export function waitsForOthers({ waits, busy, current }: Pick<Header, 'waits' | 'busy' | 'current'>): boolean {
  return waits !== undefined || busy === true || (current as Question[]).some(({ person }) => person !== undefined);
}

/** It waits for an event or another person. */
export function waitsForPeopleOrEvents({ waits = [], current }: Header): boolean {
  return waits.some(({ kind }) => kind === 'event') || (current as Question[]).some(({ person }) => person);
}

/** The turn that follows when the caller has nothing to answer. Sessions in tokens receive no events. */
export function toLaterTurn(host: TurnHost, header: Header): Pick<Turn, 'later'> {
  const isWaiting = !isEnded(header) && callerQuestions(header).length === 0 && waitsForOthers(header);
  const canFollow = host.context.lasting || !waitsForPeopleOrEvents(header);
  return isWaiting && canFollow ? { later: () => host.following(header) } : {};
}
