// What comes to a body: the entries that it has not received yet, in journal order; whether each answer and event fits what the body asks
// now; and which value the body gets for it.
import { AskError } from '../authoring/ask-failure.ts';
import type { AskFailure } from '../authoring/ask-failure.ts';
import { findAddressee } from '../fold.ts';
import type { ReplayEntry } from '../fold.ts';
import { PREFILLED } from '../journal.ts';
import type { AnswerEntry, AnswerSource, EventEntry } from '../journal.ts';
import { checkAnswer } from '../question/check-answer.ts';
import type { Question } from '../question/question.ts';
import { toMistake } from './author-code.ts';
import type { CurrentRun } from './current-run.ts';
import { toBrokenVersion } from './mismatch.ts';
import { withAskedPlace } from './misuse.ts';
import type { EventSpec, PendingAsk, PendingQuestion } from './pending-ask.ts';
import { validateFlowAnswer, pinOf, toConsentPin } from './question-spec.ts';
import type { QuestionSpec } from './question-spec.ts';
import type { IncomingAnswer, IncomingEvent } from './run-input.ts';

/** An answer or event that has just arrived. */
type Fresh = IncomingAnswer | IncomingEvent;

type AnswerMatch = { value: unknown; entry?: AnswerEntry } | { error: Error; entry?: AnswerEntry };
type EventMatch = { value: unknown; entry?: EventEntry } | { error: Error; entry?: EventEntry };

/** Undefined if it does not fit what the body asks now; `broken` if the author's rules for it have thrown. */
export function matchEntry(
  told: AnswerEntry | EventEntry | Fresh,
  pending: PendingAsk,
  run: CurrentRun,
): AnswerMatch | EventMatch | { broken: Error } | undefined {
  try {
    return told.t === 'evt' || told.t === 'arr'
      ? matchEvent(told, pending as PendingAsk<EventSpec>, run)
      : matchAnswer(told, pending as PendingQuestion, run);
  } catch (thrown) {
    const error = withAskedPlace(toMistake(`the check of ${told.k}`, thrown), pending);
    // Rules that have accepted it before have changed since, whatever the version says.
    const wasAccepted = told.t === 'evt' || (told.t === 'ans' && told.ty !== PREFILLED && !told.moved);
    return { broken: (wasAccepted && toBrokenVersion(run.input.flow, error, true)) || error };
  }
}

function matchAnswer(
  told: AnswerEntry | IncomingAnswer,
  pending: PendingQuestion,
  run: CurrentRun,
): AnswerMatch | undefined {
  const found = told.t === 'ans' ? fitEntry(told, pending.spec, run) : fitIncoming(told, pending.spec, run);
  const wasPut = told.t === 'in' || told.ty !== PREFILLED;
  if (found && wasPut) run.notes.shown = Math.max(run.notes.shown, pending.spec.notes ?? 0);
  return found;
}

function fitEntry(entry: AnswerEntry, spec: QuestionSpec, run: CurrentRun): AnswerMatch | undefined {
  if (run.input.isTrusting) return { value: entry.v };
  if (entry.ty !== spec.kind && entry.ty !== PREFILLED) return undefined;
  if (spec.options.by === 'human' && !isHuman(entry.src)) return undefined;
  if (!isTheirs(entry, spec)) return undefined;
  // A secret must not come as an argument, and a file from an argument was not stored.
  if ((spec.options.secret || spec.kind === 'file') && entry.ty === PREFILLED) return undefined;
  const consent = toConsentPin(spec);
  if (entry.f !== consent && entry.ty !== PREFILLED) return undefined;
  // Another person has not agreed to what the caller changed since.
  if (entry.moved && entry.who !== undefined && consent !== undefined) return undefined;
  if (entry.moved && entry.ty !== PREFILLED && entry.p !== pinOf(spec, toLocalization(run))) return undefined;
  if (entry.no !== undefined) return toUnanswered(entry.no, spec);
  const stored = entry.ty === 'file' || spec.options.secret === true;
  const accepted = validateFlowAnswer(entry.v, spec, {
    localization: toLocalization(run),
    answers: run.answers,
    stored,
  });
  if (!('complaint' in accepted)) return { value: accepted.value };
  run.refused.set(spec.key, accepted.complaint);
  return undefined;
}

function fitIncoming(incoming: IncomingAnswer, spec: QuestionSpec, run: CurrentRun): AnswerMatch | undefined {
  const { a, src, via, no } = incoming;
  const consent = toConsentPin(spec);
  if (consent !== undefined && incoming.question && incoming.question.consent !== consent) {
    incoming.verdict = { error: 'The question has changed since it was shown' };
    return undefined;
  }
  const entry: AnswerEntry = { t: 'ans', k: spec.key, a, ty: spec.kind, src, via, ts: run.turn.now };
  if (consent !== undefined) entry.f = consent;
  if (incoming.who !== undefined) entry.who = incoming.who;
  if (incoming.question) keepShown(entry, incoming.question, incoming);
  if (no !== undefined) {
    incoming.verdict = 'accepted';
    entry.no = no;
    return { ...toUnanswered(no, spec), entry };
  }
  const accepted = check(incoming, spec, run);
  if ('complaint' in accepted) {
    incoming.verdict = accepted.complaint;
    return undefined;
  }
  incoming.verdict = 'accepted';
  const { raw, from } = accepted;
  if (raw !== undefined) entry.v = raw;
  if (from === 'default') entry.src = 'default';
  return { value: accepted.value, entry };
}

function check({ v, src, stored = false }: IncomingAnswer, spec: QuestionSpec, run: CurrentRun) {
  if (spec.options.by === 'human' && !isHuman(src)) return { complaint: { error: 'Only the user can answer this' } };
  // A secret that failed its check was not sealed, so it must go no further.
  if (spec.options.secret && !stored) return { complaint: { error: 'Invalid format' } };
  return validateFlowAnswer(v, spec, { localization: toLocalization(run), answers: run.answers, stored });
}

/**
 * The entry of an answer to a question that the body does not ask now, because it was asked ahead or the body has changed. It is checked
 * against the question as it was shown, and again when the body asks.
 */
export function toUnaskedEntry(incoming: IncomingAnswer, ts: number): AnswerEntry | undefined {
  const { k, a, v, no, src, via, question, stored } = incoming;
  if (!question) return undefined;
  const checked = stored || no !== undefined ? { value: v } : checkAnswer(v, question);
  if ('complaint' in checked) {
    incoming.verdict = checked.complaint;
    return undefined;
  }
  incoming.verdict = 'accepted';
  const entry: AnswerEntry = { t: 'ans', k, a, ty: question.kind, src, via, ts };
  if (no !== undefined) entry.no = no;
  else if (checked.value !== undefined) entry.v = checked.value;
  if (question.consent !== undefined) entry.f = question.consent;
  if (incoming.who !== undefined) entry.who = incoming.who;
  keepShown(entry, question, incoming);
  return entry;
}

/** A prompt with more choices is not stored with each answer. */
const MAX_CHOICES = 50;

function keepShown(entry: AnswerEntry, { pin, prompt }: Question, { at, meta }: IncomingAnswer): void {
  if (at !== undefined) entry.at = at;
  if (meta !== undefined) entry.meta = meta;
  if (pin !== undefined) entry.p = pin;
  if ((prompt.choices?.length ?? 0) <= MAX_CHOICES && prompt.schema === undefined) entry.q = prompt;
}

/** Declining a confirmation means no, and an optional question gets its default. Anything else throws in the body. */
function toUnanswered(no: AskFailure, { key, kind, options }: QuestionSpec): AnswerMatch {
  if (no === 'declined' && kind === 'confirm') return { value: false };
  if (no === 'timeout' && options.onTimeout === 'default') return { value: options.default };
  if (no === 'declined' && options.required === false) return { value: options.default };
  return { error: new AskError(key, no) };
}

/** Whether the person who is asked has answered, or the caller where that is allowed. An argument comes from the caller. */
function isTheirs({ who, ty, no, hands }: AnswerEntry, { person }: QuestionSpec): boolean {
  if (!person) return who === undefined;
  if (no === 'timeout') return true;
  const asked = findAddressee(hands, person.principal);
  return who === asked || (person.orCaller === true && who === undefined && ty !== PREFILLED);
}

function isHuman(source: AnswerSource): boolean {
  return source === 'human' || source === 'ui';
}

function toLocalization({ input }: CurrentRun) {
  return { catalogue: input.flow.options.messages, locale: input.locale };
}

/** Checks whether a delivered event is the one that the body waits for. */
function matchEvent(
  told: EventEntry | IncomingEvent,
  { spec, promise }: PendingAsk<EventSpec>,
  run: CurrentRun,
): EventMatch | undefined {
  if (told.t === 'arr' && promise.interest.isLost) {
    told.verdict = { error: 'It is no longer awaited' };
    return undefined;
  }
  if (told.t === 'evt' && told.no !== undefined) return { error: new AskError(spec.key, told.no) };
  const { isTrusting } = run.input;
  if (isTrusting) return { value: told.v };
  const options = spec.schema ? { schema: spec.schema } : { required: false };
  const circumstances = { localization: toLocalization(run), answers: run.answers, stored: false };
  const accepted = validateFlowAnswer(told.v, { key: spec.key, kind: 'custom', options }, circumstances);
  if (told.t === 'evt') return 'complaint' in accepted ? undefined : { value: accepted.value };
  if ('complaint' in accepted) {
    told.verdict = accepted.complaint;
    return undefined;
  }
  return { value: accepted.value, entry: toEventEntry(told, run.turn.now) };
}

function toEventEntry(arriving: IncomingEvent, ts: number): EventEntry {
  const { k, v } = arriving;
  arriving.verdict = 'accepted';
  return { t: 'evt', k, ...(v !== undefined && { v }), ts };
}

interface Wanted {
  has(key: string): boolean;
}

/** The entry of an answer or event that has just arrived, and that the body does not ask for now. */
export function toKeptEntry(incoming: Fresh, now: number): AnswerEntry | EventEntry | undefined {
  return incoming.t === 'arr' ? toEventEntry(incoming, now) : toUnaskedEntry(incoming, now);
}

/** The entries that a body has not received yet. One that the body does not ask for when its turn comes is kept until the body does. */
export class ReplayQueue {
  readonly #told: (ReplayEntry | Fresh)[];
  readonly #kept = new Map<string, ReplayEntry>();
  readonly #onKept: (fresh: Fresh) => AnswerEntry | EventEntry | undefined;
  #cursor = 0;
  #coming: readonly string[] | undefined;

  /** `onKept` creates the entry of an answer or event that has just arrived and that the body does not ask for. */
  constructor(told: (ReplayEntry | Fresh)[], onKept: (fresh: Fresh) => AnswerEntry | EventEntry | undefined) {
    this.#told = told;
    this.#onKept = onKept;
  }

  /** The next entry that the body asks for. Each is returned once, whether it fits or not. */
  next(wanted: Wanted): ReplayEntry | Fresh | undefined {
    if (this.#coming?.some((key) => wanted.has(key))) this.#coming = undefined;
    return (this.#kept.size > 0 ? this.#nextKept(wanted) : undefined) ?? this.#nextTold(wanted);
  }

  #nextKept(wanted: Wanted): ReplayEntry | undefined {
    for (const [key, told] of this.#kept) {
      if (!wanted.has(key)) continue;
      this.#kept.delete(key);
      return told;
    }
    return undefined;
  }

  #nextTold(wanted: Wanted): ReplayEntry | Fresh | undefined {
    while (this.#cursor < this.#told.length) {
      const told = this.#told[this.#cursor++] as ReplayEntry | Fresh;
      if (wanted.has(told.k)) return told;
      const kept = told.t === 'in' || told.t === 'arr' ? this.#onKept(told) : told;
      if (kept) this.#kept.set(kept.k, kept);
    }
    return undefined;
  }

  /** Entries for one of these keys will come, as when a turn brings them: the run replays until its body asks for one. */
  expect(keys: readonly string[]): void {
    if (keys.length > 0) this.#coming = keys;
  }

  add(...told: (ReplayEntry | Fresh)[]): void {
    // Drop the entries that the body has received.
    this.#told.splice(0, this.#cursor);
    this.#cursor = 0;
    this.#told.push(...told);
  }

  hasMore(wanted: Wanted): boolean {
    if (this.#cursor < this.#told.length) return true;
    return this.#kept.size > 0 && [...this.#kept.keys()].some((key) => wanted.has(key));
  }

  /** The keys that the body has not asked for. */
  get unasked(): string[] {
    return [...this.#kept.keys()];
  }

  get left(): number {
    return this.#told.length - this.#cursor;
  }

  /** Entries of earlier turns are left. Arguments do not count, since they came before the first turn. */
  get isReplaying(): boolean {
    if (this.#coming) return true;
    return this.#told.slice(this.#cursor).some((told) => told.t !== 'ans' || told.ty !== PREFILLED);
  }
}
