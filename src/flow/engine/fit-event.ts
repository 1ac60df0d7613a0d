// Whether something that was delivered is what the body waits for.
import type { EventEntry } from '../journal.ts';
import { AskError } from '../authoring/ask-failure.ts';
import type { Complaint } from '../question/question.ts';
import { accept } from './accept.ts';
import type { Run } from './run.ts';
import type { EventSpec } from './want.ts';

/** An event that has just come and is in no journal yet. */
export interface Arriving {
  t: 'arr';
  k: string;
  v: unknown;
  /** Set by the run. */
  verdict?: 'accepted' | Complaint | undefined;
}

export type Happening = { value: unknown; entry?: EventEntry } | { error: Error; entry?: EventEntry };

export function fitEvent(told: EventEntry | Arriving, spec: EventSpec, run: Run): Happening | undefined {
  if (told.t === 'evt' && told.no !== undefined) return { error: new AskError(spec.key, told.no) };
  const { flow, locale, now, isTrusting } = run.input;
  if (isTrusting) return { value: told.v };
  const options = spec.schema ? { schema: spec.schema } : { required: false };
  const circumstances = {
    tongue: { catalogue: flow.options.messages, locale },
    answers: run.answers,
    stored: false,
  };
  const accepted = accept(told.v, { key: spec.key, kind: 'custom', options }, circumstances);
  if (told.t === 'evt') return 'complaint' in accepted ? undefined : { value: accepted.value };
  if ('complaint' in accepted) {
    told.verdict = accepted.complaint;
    return undefined;
  }
  return { value: accepted.value, entry: toEventEntry(told, now) };
}

export function toEventEntry(arriving: Arriving, ts: number): EventEntry {
  const { k, v } = arriving;
  arriving.verdict = 'accepted';
  return { t: 'evt', k, ...(v !== undefined && { v }), ts };
}
