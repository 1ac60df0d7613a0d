// What a session waits for beside answers: sleeps that pass, and events that come. They lie in its header, so that nobody has to stay at work
// for them; the due index of the store tells when the next one is over.
import type { Run } from '../../engine/run.ts';
import type { WaitWant } from '../../engine/want.ts';
import type { Entry, Header, Wait } from '../../journal.ts';
import type { Question } from '../../question/question.ts';
import { isEnded } from '../../store/store.ts';
import type { DriveInput } from '../turn/drive-input.ts';
import type { Turn } from '../turn/turn.ts';

/** For the header; and what is written down because it begins only now. */
export function toWaits(run: Run, wants: readonly WaitWant[]): { waits: Wait[] | undefined; add: Entry[] } {
  const add: Entry[] = [];
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
export function ownOf({ current }: Pick<Header, 'current'>): Question[] {
  return (current as Question[]).filter(({ person }) => !person || person.orCaller === true);
}

/** A question that has waited beside others, of which one was answered, waits no longer for that. */
export function withUntil(questions: Question[], before: readonly Question[], now: number): Question[] {
  if (!questions.some(({ until }) => until !== undefined)) return questions;
  return questions.map((question) => {
    const { until = 0 } = before.find(({ promptId }) => promptId === question.promptId) ?? {};
    return question.until !== undefined && until > now ? { ...question, until } : question;
  });
}

/** When the next question or wait has waited long enough; Infinity where none has an end. */
export function nextMoment({ current, waits = [] }: Pick<Header, 'current' | 'waits'>): number {
  let at = Infinity;
  for (const { until } of current as Question[]) if (until !== undefined && until < at) at = until;
  for (const { until } of waits) if (until !== undefined && until < at) at = until;
  return at;
}

export interface Late {
  questions: Question[];
  waits: Wait[];
}

/** Those whose time was over first. The others are looked at after that: they may have lost a race by then. */
export function lateOf(header: Header, now: number): Late | undefined {
  const at = nextMoment(header);
  if (at > now) return undefined;
  const isFirst = ({ until }: { until?: number | undefined }) => until === at;
  const questions = (header.current as Question[]).filter(isFirst);
  return { questions, waits: questions.length > 0 ? [] : (header.waits ?? []).filter(isFirst) };
}

/** What is written down of a wait that is over. */
export function toPassed({ key: k, kind }: Wait, ts: number): Entry {
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
export function isForOthers({ waits, busy, current }: Pick<Header, 'waits' | 'busy' | 'current'>): boolean {
  return waits !== undefined || busy === true || (current as Question[]).some(({ person }) => person !== undefined);
}

/** Somebody else has to do something. */
export function isForEvents({ waits = [], current }: Header): boolean {
  return waits.some(({ kind }) => kind === 'event') || (current as Question[]).some(({ person }) => person);
}

/** What follows, where it waits for others and asks nothing. Of what happens outside nothing is told to a session that is kept nowhere. */
export function laterOf(
  { following, setup }: Pick<DriveInput, 'following' | 'setup'>,
  header: Header,
): Pick<Turn, 'later'> {
  const isWaiting = !isEnded(header) && ownOf(header).length === 0 && isForOthers(header);
  const canFollow = setup.lasting || !isForEvents(header);
  return following && isWaiting && canFollow ? { later: () => following(header) } : {};
}
