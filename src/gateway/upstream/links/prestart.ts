// Starts a server process while the rest of the program still loads, so that both start-ups overlap. The first link to this
// server takes the process over. This file imports as little as possible.
import { VIA_VARIABLE, ownVia, writeVia } from '../../../shared/via.ts';
import type { SandboxOptions } from '../sandbox/sandbox.ts';
import { ProcessGroup } from './process-group.ts';
import { safeEnv } from './safe-env.ts';
import { settledWithin } from '../../../shared/timing.ts';

export interface ServerCommand {
  command: string;
  args?: readonly string[] | undefined;
  env?: Record<string, string> | undefined;
  cwd?: string | undefined;
  /** See `CommandAddress`. */
  sandbox?: SandboxOptions | boolean | undefined;
  /** The id of the gateway that starts it (shared/via.ts). */
  id?: string | undefined;
}

/** How long the process may take to exit after its stdin closes, and again after SIGTERM. */
const STOP_MS = 2000;

const ahead = new Map<string, ProcessGroup>();

/** Starts only one of several identical commands. */
export function prestart(command: ServerCommand): void {
  if (command.sandbox) return; // what finds one is loaded late
  const key = keyOf(command);
  if (ahead.has(key)) return;
  try {
    const group = startProcess(command);
    if (group.child.pid !== undefined) ahead.set(key, group);
    else group.child.once('error', () => {});
  } catch {
    // opening the server fails in the same way and reports it; other servers are not affected
  }
}

/** Returns the prestarted process, once, if it still runs. */
export function takePrestarted(command: ServerCommand): ProcessGroup | undefined {
  if (ahead.size === 0) return undefined;
  const key = keyOf(command);
  const group = ahead.get(key);
  ahead.delete(key);
  return group?.child.exitCode === null && group.child.signalCode === null ? group : undefined;
}

/** Ends the processes that no link has taken over. */
export async function stopUnusedPrestarted(): Promise<void> {
  const left = [...ahead.values()];
  ahead.clear();
  await Promise.all(left.map(leave));
}

async function leave(group: ProcessGroup): Promise<void> {
  group.child.stdin.on('error', () => {}).end(); // it may have exited already
  await settledWithin(group.exited, STOP_MS);
  await group.stop(STOP_MS);
}

export function startProcess({ command, args = [], env, cwd, id }: ServerCommand): ProcessGroup {
  const via = id === undefined ? {} : { [VIA_VARIABLE]: writeVia(ownVia(id)) };
  return new ProcessGroup({ command, args, env: { ...safeEnv(env), ...via }, cwd });
}

function keyOf({ command, args = [], env = {}, cwd }: ServerCommand): string {
  return JSON.stringify([command, args, env, cwd]);
}
