// What can be said of the process of a server, to keep it from the rest of the machine. A line for each kind; confinements.ts has what they do.
import type { SandboxAddress, SandboxStatus } from './sandbox/sandbox-options.ts';

export interface ConfinementOptions extends SandboxAddress {}

/** What the status of a server says of it. */
export interface ConfinementStatus extends SandboxStatus {}
