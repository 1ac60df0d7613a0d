// What is replaced in the process where bodies run, once: for them time and randomness are the session's, and where they are checked, what reaches out
// and waits is refused. Code outside of a body notices nothing.
import type { RunInput } from '../run-input.ts';
import { installVirtualGlobals } from '../environment/virtual-globals.ts';
import { installSyncChecks } from './sync-io.ts';

export function installGlobals({ virtual = true, checks = 'throw' }: Pick<RunInput, 'virtual' | 'checks'>): void {
  if (!virtual) return;
  installVirtualGlobals();
  if (checks === 'throw') installSyncChecks();
}
