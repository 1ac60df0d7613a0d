// A server process that is started before anybody can speak with it, while the rest of the program is still being loaded: its
// start and ours then take no longer than the slower of the two. The first to open the server takes it over. It imports as
// little as can be.
import { VIA_VARIABLE, ownVia, writeVia } from '../../../shared/via.ts';
import { ProcessGroup } from './process-group.ts';
import { safeEnv } from './safe-env.ts';
import { settledWithin } from '../settled-within.ts';

export interface ServerCommand {
  command: string;
  args?: readonly string[] | undefined;
  env?: Record<string, string> | undefined;
  cwd?: string | undefined;
  /** Of the gateway that starts it (shared/via.ts). */
  id?: string | undefined;
}

/** How long it may take to leave after its stdin was closed, and again after SIGTERM. */
const STOP_MS = 2000;

const ahead = new Map<string, ProcessGroup>();

/** Of several that are the same only one is. */
export function prestart(command: ServerCommand): void {
  const key = keyOf(command);
  if (ahead.has(key)) return;
  try {
    const group = startProcess(command);
    if (group.child.pid !== undefined) ahead.set(key, group);
    else group.child.once('error', () => {});
  } catch {
    // opening it fails in the same way, and is reported there; the others are started
  }
}

/** The process that was started ahead, once, if it still runs. */
export function takePrestarted(command: ServerCommand): ProcessGroup | undefined {
  if (ahead.size === 0) return undefined;
  const key = keyOf(command);
  const group = ahead.get(key);
  ahead.delete(key);
  return group?.child.exitCode === null && group.child.signalCode === null ? group : undefined;
}

/** It is over before anybody has spoken with it: it is asked to leave like any other server. */
export async function stopUnusedPrestarted(): Promise<void> {
  const left = [...ahead.values()];
  ahead.clear();
  await Promise.all(left.map(leave));
}

async function leave(group: ProcessGroup): Promise<void> {
  group.child.stdin.on('error', () => {}).end(); // it may be gone already
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
