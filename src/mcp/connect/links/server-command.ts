// The command of a server, and how it is started.
import type { ConfinementOptions } from '../confinement-options.ts';

export interface ServerCommand extends ConfinementOptions {
  command: string;
  args?: readonly string[] | undefined;
  env?: Record<string, string> | undefined;
  cwd?: string | undefined;
  /** The id of the gateway that starts it (kernel/base/via.ts). */
  id?: string | undefined;
}
