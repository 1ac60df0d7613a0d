// What another feature may add to the checks of a server's lists: it compares definitions with what was seen before, and holds some back.
import type { JsonObject } from '../../../kernel/message.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { ServerView } from '../../../kernel/server-view.ts';
import type { Log } from '../../../kernel/base/log.ts';

export type HeldArea = 'tools' | 'prompts' | 'resourceTemplates' | 'instructions';

/** One page, unchanged from the server. */
export interface ListedPage {
  area: HeldArea;
  /** The entries by name. */
  entries: readonly { name: string; entry: JsonObject; isSuspicious: boolean }[];
  client: Pick<ClientView, 'capabilities'>;
  server: ServerView;
  cursor: unknown;
  nextCursor: unknown;
}

export interface HeldDefinitions {
  /** The names that may be shown. */
  check(page: ListedPage): Promise<ReadonlySet<string>>;
  isHeld(area: HeldArea, name: string): boolean;
  refusal(area: HeldArea, name: string): Error | undefined;
  /** What is held, by name, and why. */
  heldBack(area: HeldArea): ReadonlyMap<string, Error>;
  /** What was found, a line for each. */
  readonly reports: readonly string[];
  close(): void;
}

/** Loaded when something is listed for the first time. */
export type LoadHeldDefinitions = (around: {
  server: string;
  log: Log;
  /** Called when something was accepted. */
  onAccepted: (area: HeldArea) => void;
}) => Promise<HeldDefinitions>;
