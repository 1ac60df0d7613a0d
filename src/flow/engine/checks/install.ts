// What is replaced in the process where bodies run, once: for them time and randomness are the session's, and where they are checked, what reaches out
// and waits is refused. Code outside of a body notices nothing.
import type { RunInput } from '../run-input.ts';
import { installVirtual } from '../given/virtual.ts';
import { installSyncChecks } from './sync-io.ts';

export function install({ virtual = true, checks = 'throw' }: Pick<RunInput, 'virtual' | 'checks'>): void {
  if (!virtual) return;
  installVirtual();
  if (checks === 'throw') installSyncChecks();
}
