// A child process and its descendants, signalled together. On POSIX the child leads its own process group, so that everything it
// leaves behind ends too (npx starts a shell, which starts node). Invariants:
// 1. A group is signalled only while our child lives or right after, so that a reused pid is never hit.
// 2. No group outlives this process when it exits by itself; a killed process cannot guarantee that.
import type * as ChildProcess from 'node:child_process';

export interface SpawnOptions {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd: string | undefined;
}

const isWindows = process.platform === 'win32';
const POLL_MS = 20;

/** Groups that may still have members. */
const alive = new Set<ProcessGroup>();
let isHooked = false;

export class ProcessGroup {
  readonly child: ChildProcess.ChildProcessWithoutNullStreams;
  /** Fulfilled when the leader was reaped or could not be started. */
  readonly exited: Promise<void>;
  #hasExited = false;

  constructor({ command, args, env, cwd }: SpawnOptions) {
    const shell = isWindows && /^npx$|\.(cmd|bat)$/i.test(command);
    const [file, list] = shell ? [quote(command), args.map(quote)] : [command, args];
    this.child = childProcess().spawn(file, list, {
      env,
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

/** Quotes one word for cmd.exe, the shell on Windows. */
function quote(word: string): string {
  return /^[\w.:\\/@=-]+$/.test(word) ? word : `"${word.replaceAll('"', '""')}"`;
}
