// What keeps the process of a server from the rest of the machine.
import type { CommandAddress } from './address.ts';
import type { ServerCommand } from './links/server-command.ts';

export interface ConfinementState {
  /** Which part of the machine does it. */
  kind: string;
  /** What it keeps the server from, and what not; absent if the command is not confined. */
  holds?: string;
}

/** What runs in place of the command. */
export interface ConfinedStart extends Required<ConfinementState> {
  /** Whether it holds all that was asked for. */
  isWhole: boolean;
  command: string;
  args: string[];
  env?: Record<string, string>;
}

export interface Confinement {
  /** Its key in the entry of a server and in the status. */
  readonly key: string;
  isWanted(command: ServerCommand): boolean;
  /** Called when the gateway first knows of a command that may be started later. */
  note(command: CommandAddress): void;
  /** Throws if the command must not start. */
  confine(command: ServerCommand): Promise<ConfinedStart>;
  describe(command: ServerCommand): Promise<ConfinementState>;
}
