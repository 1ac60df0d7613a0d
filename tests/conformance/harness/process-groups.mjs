// Processes that must not outlive the run. Each leads a group of its own, so that what it started ends with it, and so that
// nothing is ever killed by name.
import { spawn } from 'node:child_process';

const SIGNALS = { SIGINT: 130, SIGTERM: 143 };
const groups = new Set();

process.once('exit', () => {
  for (const pid of groups) killGroup(pid);
});
for (const [signal, code] of Object.entries(SIGNALS)) process.once(signal, () => process.exit(code));

export function spawnGroup(command, args, options) {
  const child = spawn(command, args, { ...options, detached: true });
  // Not forgotten when the leader ends: what it started may live on.
  if (child.pid !== undefined) groups.add(child.pid);
  return child;
}

/** Ends whatever is left of the group; an empty one is fine. */
export function endGroup(pid) {
  killGroup(pid);
  groups.delete(pid);
}

export function killGroup(pid, signal = 'SIGKILL') {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
