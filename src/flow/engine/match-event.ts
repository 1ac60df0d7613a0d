// Checks whether a delivered event is the one that the body waits for.
import type { EventEntry } from '../journal.ts';
import { AskError } from '../authoring/ask-failure.ts';
import type { Complaint } from '../question/question.ts';
import { validateFlowAnswer } from './validate-answer.ts';
import type { BodyRun } from './body-run.ts';
import type { EventSpec } from './pending-ask.ts';

/** An event that has just arrived and is not in the journal yet. */
export interface IncomingEvent {
  t: 'arr';
  k: string;
  v: unknown;
  /** Set by the run. */
  verdict?: 'accepted' | Complaint | undefined;
}

export type EventMatch = { value: unknown; entry?: EventEntry } | { error: Error; entry?: EventEntry };

export function matchEvent(told: EventEntry | IncomingEvent, spec: EventSpec, run: BodyRun): EventMatch | undefined {
  if (told.t === 'evt' && told.no !== undefined) return { error: new AskError(spec.key, told.no) };
  const { flow, locale, now, isTrusting } = run.input;
  if (isTrusting) return { value: told.v };
  const options = spec.schema ? { schema: spec.schema } : { required: false };
  const circumstances = {
    localization: { catalogue: flow.options.messages, locale },
    answers: run.answers,
    stored: false,
  };
  const accepted = validateFlowAnswer(told.v, { key: spec.key, kind: 'custom', options }, circumstances);
  if (told.t === 'evt') return 'complaint' in accepted ? undefined : { value: accepted.value };
  if ('complaint' in accepted) {
    told.verdict = accepted.complaint;
    return undefined;
  }
  return { value: accepted.value, entry: toEventEntry(told, now) };
}

export function toEventEntry(arriving: IncomingEvent, ts: number): EventEntry {
  const { k, v } = arriving;
  arriving.verdict = 'accepted';
  return { t: 'evt', k, ...(v !== undefined && { v }), ts };
}
