// What happens to sessions without anybody having asked for it just now.
import type { Header } from '../journal.ts';
import type { PromptStep } from '../../protocol/prompt.ts';
import type { Turn } from './turn/turn.ts';

export type SessionEvent =
  | { kind: 'warning'; header: Header; remainingMs: number }
  | { kind: 'expired'; header: Header }
  /** Somebody was told of a question that is theirs to answer, or reminded of it. */
  | { kind: 'person'; header: Header }
  /** Somebody has cancelled it. */
  | { kind: 'cancelled'; header: Header }
  /** A step says how far it is. */
  | { kind: 'progress'; header: Header; progress: PromptStep }
  /** It has ended, and these effects could not be taken back. */
  | { kind: 'undo-failed'; header: Header; steps: string[] }
  /** Went on after its process had died, or a question had waited long enough. */
  | { kind: 'turn'; turn: Turn };
