// A child process with everything it starts, as one thing to signal. On POSIX the child leads a process group of its
// own, so that what it left behind (npx starts a shell, which starts node) is ended with it. Invariants:
// 1. A group is signalled only while our child lives or right after it, so that a reused pid is never hit.
// 2. No group outlives this process when it exits by itself; a process that is killed cannot keep this promise.
import type * as ChildProcess from 'node:child_process';

export interface SpawnOptions {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd: string | undefined;
}

const isWindows = process.platform === 'win32';
const POLL_MS = 20;

/** Leaders of groups that may still have members. */
const alive = new Set<ProcessGroup>();
let isHooked = false;

export class ProcessGroup {
  readonly child: ChildProcess.ChildProcessWithoutNullStreams;
  /** Fulfilled when the leader was reaped, or could not be started. */
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
      // Without a pid it was never started, and no 'exit' will come.
      if (this.child.pid === undefined) this.child.once('error', done);
    });
    if (this.child.pid !== undefined) remember(this);
  }

  /** Ends what is left of the group: politely, and after `graceMs` for good. Resolves when it is gone or unkillable. */
  async stop(graceMs: number): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (!this.signal(signal)) break;
      await this.#gone(graceMs);
    }
    // A killed leader is always reaped; killed members may stay as zombies where pid 1 does not reap, for which we
    // do not wait.
    await this.exited;
    alive.delete(this);
  }

  /** False when nobody is left who could get it. */
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

  /** Resolves when the group is empty, at the latest after `ms`. There is no event for this, so it polls. */
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

/** A server behind a URL is reached without it. */
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

/** One word for cmd.exe, which is what a shell is on Windows. */
function quote(word: string): string {
  return /^[\w.:\\/@=-]+$/.test(word) ? word : `"${word.replaceAll('"', '""')}"`;
}
