// A private Postgres: on a free port, with every acknowledged commit on disk, in a temporary folder. Postgres refuses to run as root, so there it
// runs as the user `postgres`.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from './remove-folder.ts';
import { freePort } from './server-process.ts';
import { hasTool } from './tools.ts';
import { until, within } from './until.ts';

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Of a database of its own, for the superuser. */
  readonly url: string;
  /** Kills it with all that belongs to it, as in a crash, and restarts it on the data on disk. */
  crash(): Promise<void>;
  /** Ends it as for a restart, which tells its clients so, and resolves with a function that restarts it. */
  pause(): Promise<() => Promise<void>>;
  /** Stops all its processes, which then neither answer nor end, and resolves with a function that lets them continue. */
  freeze(): () => void;
  /** Runs statements, and returns what `psql` prints. */
  sql(text: string): string;
}

const PACKAGES = '/usr/lib/postgresql';

export function hasPostgres(): boolean {
  return findFolder() !== undefined || hasTool('postgres', 'postgresql');
}

export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-postgres-'));
  const user = toUser();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid!);
  const files = join(folder, 'files');
  const made = spawnSync(
    toolAt('initdb'),
    ['-D', files, '-U', 'parley', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'],
    { ...user, cwd: folder, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
  const args = [
    '-D',
    files,
    '-p',
    String(port),
    ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ];
  const start = () => startServer(args, { ...user, cwd: folder });
  let child = await start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    if (signal === 'SIGKILL') {
      child.kill('SIGSTOP'); // or it would begin another process meanwhile
      for (const pid of membersOf(child.pid!)) killIfThere(pid);
    }
    child.kill(signal);
    await within('Postgres to end', gone);
  };
  const again = async (): Promise<void> => void (child = await start());
  const url = `postgres://parley@127.0.0.1:${port}/postgres`;
  return {
    port,
    url,
    async crash() {
      await end('SIGKILL');
      await again();
    },
    async pause() {
      await end('SIGINT'); // fast: sessions are ended
      return again;
    },
    freeze() {
      const all = [child.pid!, ...membersOf(child.pid!)];
      for (const pid of all) process.kill(pid, 'SIGSTOP');
      return () => all.forEach((pid) => process.kill(pid, 'SIGCONT'));
    },
    sql(text) {
      const { status, stdout, stderr } = spawnSync(
        toolAt('psql'),
        ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', text, url],
        {
          encoding: 'utf8',
        },
      );
      if (status !== 0) throw new Error(stderr);
      return stdout.trim();
    },
    async [Symbol.asyncDispose]() {
      await end('SIGKILL');
      removeFolder(folder);
    },
  };
}

/** After a crash, what belonged to the server before may take a moment to end; until then it does not start. */
async function startServer(args: string[], options: SpawnOptions): Promise<ChildProcess> {
  return until('Postgres to start', async () => {
    try {
      return await startOnce(args, options);
    } catch (thrown) {
      if (/shared memory block|lock file/.test((thrown as Error).message)) return undefined;
      throw thrown;
    }
  });
}

async function startOnce(args: string[], options: SpawnOptions): Promise<ChildProcess> {
  const child = spawn(toolAt('postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said = (said + chunk).slice(-20_000)));
  await until('Postgres to be ready', () => {
    if (child.exitCode !== null) throw new Error(`Postgres ended: ${said}`);
    return said.includes('ready to accept connections');
  });
  return child;
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // a connection has just ended
  }
}

/** The processes of its connections and of its upkeep. */
function membersOf(pid: number): number[] {
  const said = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return said === '' ? [] : said.split(' ').map(Number);
}

function toUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('postgres:'));
  if (!line) throw new Error('there is no user postgres, and Postgres does not run as root');
  const [, , uid, gid] = line.split(':').map(Number);
  return { uid: uid!, gid: gid! };
}

function toolAt(name: string): string {
  const folder = findFolder();
  return folder === undefined ? name : join(folder, name);
}

/** Debian's folder of the newest version, which is not in the path. */
function findFolder(): string | undefined {
  if (!existsSync(PACKAGES)) return undefined;
  const versions = readdirSync(PACKAGES).toSorted((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(PACKAGES, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}
