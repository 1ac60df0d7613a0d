// Sessions of interactive tools as the console shows them. Types only: the pages for browsers import them, too. Every text has passed `visible`.

export interface FlowRow {
  /** No id of the session: who has that could answer for its user. */
  id: string;
  tool: string;
  /** In one word, such as `waiting` or `parked`. */
  state: string;
  tone: 'good' | 'bad' | 'calm' | 'busy';
  /** When it began, and when something last happened, in ms of wall-clock time. */
  at: number;
  last: number;
  /** What it waits for, or why it has stopped. */
  about: string;
  /** Whose it is. */
  who: string;
  /** The client that plays it through this gateway, of one that passes. */
  client: string | null;
  /** It is in the store, and not only what has passed through this gateway. */
  isStored: boolean;
}

/** One line of a journal. */
export interface FlowEntry {
  at: number;
  /** In one word, such as `answer` or `done`. */
  what: string;
  /** Of the question or step. */
  key: string;
  text: string;
}

export interface FlowField {
  name: string;
  label: string;
  help: string | null;
  kind: 'text' | 'number' | 'confirm' | 'choice' | 'choices' | 'date' | 'json';
  /** Of choices, by their position. */
  options: readonly string[];
}

export interface FlowQuestion {
  promptId: string;
  key: string;
  message: string;
  /** What was wrong with the last answer. */
  complaint: string | null;
  /** Until when it can be answered, if that is before the end of the session. */
  until: number | null;
  fields: readonly FlowField[];
  /** Why it cannot be answered here; null if it can. */
  refusal: string | null;
}

export interface FlowWait {
  key: string;
  kind: string;
  until: number | null;
}

export interface FlowView {
  row: FlowRow;
  facts: readonly (readonly [name: string, text: string])[];
  /** Entries that are not shown: the oldest. */
  cut: number;
  entries: readonly FlowEntry[];
  questions: readonly FlowQuestion[];
  waits: readonly FlowWait[];
  /** What an operator has asked for, and no server of the flow has taken yet. */
  handed: string | null;
  actions: readonly ('cancel' | 'retry')[];
}

/** Which sessions are listed. */
export type FlowFilter = 'open' | 'ended' | 'all';

export interface StoredFlows {
  rows: readonly FlowRow[];
  /** How many match, of how many that were looked at. */
  fitting: number;
  all: number;
  /** There are more than are looked at. */
  isCut: boolean;
}

export interface FlowsView {
  /** The sessions in the store, for the operator; null for others. */
  store: (StoredFlows & { state: 'none' | 'read' | 'failed'; problem: string | null }) | null;
  /** Those that pass through this gateway. */
  passing: readonly FlowRow[];
}
