// Computes the current state of a journal. Entries are only ever appended; going back and changing an answer are entries too, and this
// applies them. The result is the list of entries that a run replays, in the order in which they were written.
import { WITHDRAWN } from './journal.ts';
import type { AnswerEntry, JournalEntry, EventEntry, HandOver, IntentEntry, StartEntry, StepEntry } from './journal.ts';

export type ReplayEntry = AnswerEntry | StepEntry | EventEntry;

/** Members that few journals need are created on first use, because every replay folds a journal. */
export class FoldedJournal {
  readonly start: StartEntry;
  entries: ReplayEntry[] = [];
  /** Why the session ends early, if it does. */
  end: string | undefined;
  /** Effects that have begun, by key, with the number of attempts. */
  readonly intents = new Map<string, { entry: IntentEntry; count: number }>();
  /** The highest attempt number of each question; numbers are never reused. */
  readonly attempts = new Map<string, number>();
  #undone: Set<string> | undefined;
  #versions: Map<string, boolean> | undefined;
  #refusals: Map<string, number> | undefined;
  #epochs: Map<string, number> | undefined;
  #hands: Map<string, HandOver[]> | undefined;

  constructor(start: StartEntry) {
    this.start = start;
  }

  /** Effects that were undone while the session ends. The body still replays them, to reach the effects after them. */
  get undone(): Set<string> {
    return (this.#undone ??= new Set());
  }

  /** The branches of `ask.version`, by id. */
  get versions(): Map<string, boolean> {
    return (this.#versions ??= new Map());
  }

  /** How many answers in a row were rejected, by question. */
  get refusals(): Map<string, number> {
    return (this.#refusals ??= new Map());
  }

  /** How often each effect was undone. Running it again after that is a new effect. */
  get epochs(): Map<string, number> {
    return (this.#epochs ??= new Map());
  }

  /** Who handed each open question to whom, in order. They end with its answer, which keeps them. */
  get hands(): Map<string, HandOver[]> {
    return (this.#hands ??= new Map());
  }

  /** The question is closed: if it is asked again, its original addressee is asked. */
  closeHands(key: string): HandOver[] | undefined {
    const hands = this.#hands?.get(key);
    if (hands) this.#hands?.delete(key);
    return hands;
  }

  /** The question got a valid answer. */
  accepted(key: string): void {
    this.#refusals?.delete(key);
  }
}

export function fold(entries: readonly JournalEntry[]): FoldedJournal {
  const [start] = entries;
  if (start?.t !== 'start') throw new TypeError('a journal begins with its start');
  const folded = new FoldedJournal(start);
  extendFold(folded, entries);
  return folded;
}

/** The person who must answer when the body asks `person`. Hand-overs by people whom the body does not ask now are ignored. */
export function findAddressee(hands: readonly HandOver[] | undefined, person: string): string {
  let asked = person;
  for (const { by, to } of hands ?? []) if (by === asked) asked = to;
  return asked;
}

/** Applies entries that were written later. */
export function extendFold(folded: FoldedJournal, entries: readonly JournalEntry[]): void {
  for (const entry of entries) apply(folded, entry);
}

function apply(folded: FoldedJournal, entry: JournalEntry): void {
  switch (entry.t) {
    case 'ans':
      count(folded, entry.k, entry.a);
      folded.accepted(entry.k);
      folded.entries.push(withHands(entry, folded.closeHands(entry.k)));
      break;
    case 'step':
    case 'evt':
      folded.entries.push(entry);
      break;
    case 'int':
      folded.intents.set(entry.k, { entry, count: (folded.intents.get(entry.k)?.count ?? 0) + 1 });
      break;
    case 'rej':
      count(folded, entry.k, entry.a);
      if (entry.why !== WITHDRAWN) folded.refusals.set(entry.k, (folded.refusals.get(entry.k) ?? 0) + 1);
      else folded.closeHands(entry.k);
      break;
    case 'ver':
      folded.versions.set(entry.id, entry.on);
      break;
    case 'cut':
      cut(folded, entry.k);
      break;
    case 'edit':
      edit(folded, entry);
      break;
    case 'undo':
      if (folded.end === undefined) undo(folded, entry.k);
      else folded.undone.add(entry.k);
      break;
    case 'hand':
      folded.hands.set(entry.k, [...(folded.hands.get(entry.k) ?? []), entry]);
      break;
    case 'end':
      folded.end = entry.why;
      break;
    case 'start':
      break;
  }
}

function withHands(entry: AnswerEntry, hands: HandOver[] | undefined): AnswerEntry {
  return hands ? { ...entry, hands } : entry;
}

function count({ attempts }: FoldedJournal, key: string, attempt: number): void {
  attempts.set(key, Math.max(attempt, attempts.get(key) ?? 0));
}

/** Drops the answer and everything after it. */
function cut(folded: FoldedJournal, key: string): void {
  const at = lastAnswer(folded.entries, key);
  if (at < 0) return;
  const later = folded.entries.splice(at);
  forget(folded, later);
  forgetWaits(folded, later[0]!.ts);
  // Events that have arrived do not arrive again.
  folded.entries.push(...later.filter((entry) => entry.t === 'evt' && entry.no === undefined));
}

/** Replaces the answer. Later answers stay as candidates; later steps run again. */
function edit(folded: FoldedJournal, { k, v, src, ts }: Extract<JournalEntry, { t: 'edit' }>): void {
  const at = lastAnswer(folded.entries, k);
  const old = folded.entries[at] as AnswerEntry | undefined;
  if (!old) return;
  const later = folded.entries.splice(at).slice(1);
  forgetWaits(folded, old.ts);
  const { no: _no, at: _at, meta: _meta, ...rest } = old;
  const kept = later.flatMap((entry): ReplayEntry[] => {
    if (entry.t === 'ans') return [{ ...entry, moved: true }];
    return entry.t === 'evt' && entry.no === undefined ? [entry] : [];
  });
  folded.entries.push({ ...rest, a: old.a + 1, v, src, ts }, ...kept);
  count(folded, k, old.a + 1);
  forget(folded, later);
}

function undo(folded: FoldedJournal, key: string): void {
  folded.entries = folded.entries.filter((entry) => entry.t !== 'step' || entry.k !== key);
  folded.intents.delete(key);
  folded.epochs.set(key, (folded.epochs.get(key) ?? 0) + 1);
}

function forget({ intents }: FoldedJournal, gone: ReplayEntry[]): void {
  for (const entry of gone) if (entry.t !== 'ans') intents.delete(entry.k);
}

/** Waits that began since then start again when the body reaches them. */
function forgetWaits({ intents }: FoldedJournal, since: number): void {
  for (const [key, { entry }] of intents) if (entry.sleep && entry.ts >= since) intents.delete(key);
}

function lastAnswer(told: ReplayEntry[], key: string): number {
  return told.findLastIndex((entry) => entry.t === 'ans' && entry.k === key);
}

/** Roughly the bytes of the entries as JSON. */
export function estimateSize(entries: readonly JournalEntry[]): number {
  let size = 0;
  for (const entry of entries) {
    const value: unknown = entry.t === 'start' ? entry.input : (entry as { v?: unknown }).v;
    size += 100 + lengthOf(value);
  }
  return size;
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' ? JSON.stringify(value).length : String(value ?? '').length;
}
