// The process of a server: a child in a small environment that leads its own process group. It starts when the server is opened, or while the rest of
// the program still loads, so that both start-ups overlap (`prestart`); so this file imports as little as possible. Invariants:
// 1. The child never inherits our whole environment, which holds the secrets of the gateway and of other servers.
// 2. A group is signalled only while our child lives or right after, so that a reused pid is never hit.
// 3. No group outlives this process when it exits by itself; a killed process cannot guarantee that.
import type * as ChildProcess from 'node:child_process';
import { VIA_VARIABLE, ownVia, writeVia } from '../../../kernel/base/via.ts';
import { settledWithin } from '../../../kernel/base/timing.ts';
import { isConfined } from '../confinements.ts';
import type { ServerCommand } from './server-command.ts';

const isWindows = process.platform === 'win32';
const POLL_MS = 20;

/** Groups that may still have members. */
const alive = new Set<ProcessGroup>();
let isHooked = false;

/** A child process and its descendants, signalled together: everything that the child leaves behind ends too (npx starts a shell, which starts node). */
export class ProcessGroup {
  readonly child: ChildProcess.ChildProcessWithoutNullStreams;
  /** Fulfilled when the leader was reaped or could not be started. */
  readonly exited: Promise<void>;
  #hasExited = false;

  constructor({ command, args = [], env, cwd, id }: ServerCommand) {
    const via = id === undefined ? {} : { [VIA_VARIABLE]: writeVia(ownVia(id)) };
    const shell = isWindows && /^npx$|\.(cmd|bat)$/i.test(command);
    const [file, list] = shell ? [quote(command), args.map(quote)] : [command, args];
    this.child = childProcess().spawn(file, list, {
      env: { ...safeEnv(env), ...via },
      cwd,
      shell,
      detached: !isWindows,
      windowsHide: true,
      stdio: 'pipe',
    });
    this.exited = new Promise((resolve) => {
      const done = (): void => {
        this.#hasExited = true;
        resolve();
      };
      this.child.once('exit', done);
      // Without a pid it never started, and emits no 'exit'.
      if (this.child.pid === undefined) this.child.once('error', done);
    });
    if (this.child.pid !== undefined) remember(this);
  }

  /**
   * Ends the rest of the group with SIGTERM, and after `graceMs` with SIGKILL. Resolves when it has ended or cannot be killed.
   */
  async stop(graceMs: number): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (!this.signal(signal)) break;
      await this.#gone(graceMs);
    }
    // A killed leader is always reaped. Killed members may stay as zombies where pid 1 does not reap; we do not wait for them.
    await this.exited;
    alive.delete(this);
  }

  /** Returns false if no process is left to signal. */
  signal(signal: NodeJS.Signals | 0): boolean {
    const { pid } = this.child;
    if (pid === undefined || !alive.has(this)) return false;
    try {
      if (!isWindows) return process.kill(-pid, signal);
      if (this.#hasExited) return false;
      if (signal !== 0)
        childProcess()
          .spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' })
          .on('error', () => {});
      return true;
    } catch {
      // ESRCH: the group is empty. EPERM: its members have changed their user, and are no longer ours to end.
      return false;
    }
  }

  /** Resolves when the group is empty, or after `ms`. There is no event for this, so it polls. */
  #gone(ms: number): Promise<void> {
    const until = performance.now() + ms;
    return new Promise((resolve) => {
      const look = (): void => {
        if (performance.now() >= until || (this.#hasExited && !this.signal(0))) resolve();
        else setTimeout(look, POLL_MS);
      };
      look();
    });
  }
}

/** Quotes one word for cmd.exe, the shell on Windows. */
function quote(word: string): string {
  return /^[\w.:\\/@=-]+$/.test(word) ? word : `"${word.replaceAll('"', '""')}"`;
}

/** Loaded late: servers behind a URL do not need it. */
function childProcess(): typeof ChildProcess {
  return process.getBuiltinModule('node:child_process');
}

function remember(group: ProcessGroup): void {
  alive.add(group);
  if (isHooked) return;
  isHooked = true;
  process.on('exit', () => {
    for (const group of alive) group.signal('SIGKILL');
  });
}

const POSIX = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TERM', 'SHELL', 'TMPDIR', 'TZ'];

const WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

/** A few variables that programs need to run, and those configured for this server. */
export function safeEnv(
  own: Record<string, string> = {},
  ours: Record<string, string | undefined> = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value !== undefined && isInherited(name, value, platform)) env[name] = value;
  }
  return { ...env, ...own };
}

function isInherited(name: string, value: string, platform: NodeJS.Platform): boolean {
  // bash exports functions as variables; a crafted one runs in every shell below (Shellshock).
  if (value.startsWith('()')) return false;
  if (platform === 'win32') return WINDOWS.includes(name.toUpperCase());
  return POSIX.includes(name) || name.startsWith('LC_');
}

/** How long the process may take to exit after its stdin closes, and again after SIGTERM. */
const STOP_MS = 2000;
/** Prestarted processes that no link has taken yet. */
const ahead = new Map<string, ProcessGroup>();

/** Starts the command before its server is opened; only one of several identical ones. */
export function prestart(command: ServerCommand): void {
  if (isConfined(command)) return; // what does it is loaded late
  const key = keyOf(command);
  if (ahead.has(key)) return;
  try {
    const group = new ProcessGroup(command);
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

function keyOf({ command, args = [], env = {}, cwd }: ServerCommand): string {
  return JSON.stringify([command, args, env, cwd]);
}
