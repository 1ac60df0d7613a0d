// A run of a body, as those see it who serve its body: what the body asks, how an answer fits, and what has changed since.
import type { JournalEntry } from '../journal.ts';
import type { Complaint } from '../question/question.ts';
import type { Entropy } from './body-environment.ts';
import type { AskSpec, AskedStep } from './pending-ask.ts';
import type { RunInput, RunTurn } from './run-input.ts';

export interface CurrentRun {
  readonly input: RunInput;
  readonly turn: RunTurn;
  /** The answers that the body received, by key. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** All steps that the body has called, in order, with their results. */
  readonly steps: ReadonlyMap<string, AskedStep>;
  /** The entries that the body has not received yet. */
  readonly replayQueue: {
    /** The keys that the body has not asked for. */
    readonly unasked: readonly string[];
    /** Entries of earlier turns are left. */
    readonly isReplaying: boolean;
  };
  readonly notes: { readonly said: string[]; shown: number };
  /** Why answers of the journal no longer fit, by key. */
  readonly refused: Map<string, Complaint>;
  progress: { current: number; total?: number | undefined; message?: string | undefined } | undefined;
  /** The client has not seen this progress yet. */
  isProgressNew: boolean;
  readonly time: number;
  readonly entropy: Entropy;
  /** `ask.signal`: aborts when the session ends. */
  readonly signal: AbortSignal;
  /** Effects that have begun, but that the body has not reached. */
  readonly lost: readonly string[];
  ask(spec: AskSpec): Promise<unknown>;
  add(entry: JournalEntry): void;
  /** When a wait began: in an earlier run, or now. */
  since(key: string): number;
}
