// What a drive is given, and what others see of it while it is at work.
import type { AnyFlow } from '../define.ts';
import type { Incoming } from '../engine/fit.ts';
import type { Spec } from '../engine/spec.ts';
import type { Ending, Entry, Header } from '../journal.ts';
import type { Frame } from './frame.ts';
import type { Step } from '../../protocol/prompt.ts';
import type { Setup } from './setup.ts';
import type { Turn } from './turn.ts';

export interface DriveInput {
  setup: Setup;
  flow: AnyFlow;
  header: Header;
  entries: Entry[];
  /** It is in the store already. */
  stored: boolean;
  /** Questions that can be put ahead. */
  next?: ReadonlyMap<string, Spec[]> | undefined;
  /** Entries to be written with the first commit, that the run already knows of. */
  prefix?: Entry[] | undefined;
  incoming?: Incoming[] | undefined;
  /** Its body, where the entries end. */
  frame?: Frame | undefined;
  /** It is to end before its time. */
  ending?: Ending | undefined;
  /** Follows it on its way: for the turn it leads to, and to call it off. */
  onLive?: ((live: Live) => void) | undefined;
  /** A step says how far it is. */
  onProgress?: ((header: Header, progress: Step) => void) | undefined;
  /** Effects could not be taken back, however often it was tried. */
  onNotUndone?: ((header: Header, steps: string[]) => void) | undefined;
}

/** Nothing is left out, though it may be undefined. */
export type WholeDriveInput = { [name in keyof Required<DriveInput>]: DriveInput[name] };

/** A session in which steps run in this process. */
export interface Live {
  readonly id: string;
  /** The turn that it leads to. */
  readonly next: Promise<Turn>;
  /** Nothing more happens here. Where effects cannot be taken back at once that is later than `next`. */
  readonly done: Promise<unknown>;
  /** Ends the session before its time. */
  end(ending: Ending): Promise<void>;
  /** Leaves it as it is, for the process that takes it over. */
  abort(): void;
}
