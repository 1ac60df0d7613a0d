// Events of sessions that no current request caused.
import type { Log } from '../../../kernel/base/log.ts';
import { findPlace } from '../../engine/misuse.ts';
import type { Header } from '../../journal.ts';
import type { PromptStep } from '../../../kernel/form/prompt.ts';
import type { Turn } from './turn.ts';

export type SessionEvent =
  | { kind: 'warning'; header: Header; remainingMs: number }
  | { kind: 'expired'; header: Header }
  /** A person was notified of a question, or reminded. */
  | { kind: 'person'; header: Header }
  | { kind: 'cancelled'; header: Header }
  /** A step reports progress. */
  | { kind: 'progress'; header: Header; progress: PromptStep }
  /** It has ended, and these effects could not be undone. */
  | { kind: 'undo-failed'; header: Header; steps: string[] }
  /** It continued without a request: a wait ended, an event arrived, or another process took over. */
  | { kind: 'turn'; turn: Turn };

/** A listener that fails must not change what happens to the session. */
export function tellListener(log: Log, listener: (event: SessionEvent) => unknown, event: SessionEvent): void {
  const fail = (error: unknown): void => {
    log.error({ error, kind: event.kind, ...findPlace(error) }, 'flow.listener-failed');
  };
  try {
    const told = listener(event);
    if (told instanceof Promise) told.catch(fail);
  } catch (error) {
    fail(error);
  }
}
