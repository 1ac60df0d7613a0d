// Servers beside an engine: started for this alone, and ended by their pid when the process that needs them ends.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const running = new Map();
process.on('exit', () => {
  for (const [child, signal] of running) child.kill(signal);
});

/** In the folder of the run, which is removed when it is over. */
export function folder(name) {
  return mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), `${name}-`));
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

export async function endServers() {
  for (const [child, signal] of running) {
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

/** `ready`: what it says when it can be used. */
export async function serve(command, args, { ready, signal = 'SIGTERM', ...options }) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  running.set(child, signal);
  let said = '';
  await new Promise((resolve, reject) => {
    const hear = (chunk) => {
      said = (said + chunk).slice(-20_000);
      if (ready && said.includes(ready)) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}\n${said}`)));
    if (!ready) resolve();
  });
  return child;
}

export async function redis(appendfsync) {
  if (spawnSync('redis-server', ['--version']).error) throw new Error('needs redis-server');
  const port = await freePort();
  const settings = { port, bind: '127.0.0.1', dir: folder('redis'), save: '', appendonly: 'yes', appendfsync };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { pid } = await serve('redis-server', args, { ready: 'Ready to accept', signal: 'SIGKILL' });
  return { pid, port, url: `redis://127.0.0.1:${port}` };
}

/** As Debian ships it: fsync and synchronous_commit are on. It refuses to run as root, and then runs as its own user. */
export async function postgres() {
  const bin = postgresFolder();
  if (bin === undefined) throw new Error('needs PostgreSQL: initdb on the path, or PG_BIN');
  const [data, port] = [folder('postgres'), await freePort()];
  const as = process.getuid() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (as.uid !== undefined) chownSync(data, as.uid, as.gid);
  const made = spawnSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'], {
    ...as,
    cwd: data,
  });
  if (made.status !== 0) throw new Error(String(made.stderr ?? made.error));
  const args = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1'];
  const { pid } = await serve(join(bin, 'postgres'), [...args, '-c', `unix_socket_directories=${data}`], {
    ...as,
    cwd: data,
    ready: 'ready to accept connections',
    signal: 'SIGINT',
  });
  return { pid, url: `postgresql://postgres@127.0.0.1:${port}/bench` };
}

/** Debian keeps the commands of a server beside the path. */
function postgresFolder() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [process.env.PG_BIN, ...(process.env.PATH ?? '').split(':')];
  return [...folders, ...versions.map((version) => join(debian, version, 'bin'))].find(
    (one) => one && existsSync(join(one, 'initdb')),
  );
}

function idOf(flag) {
  return Number(spawnSync('id', [flag, process.env.PG_USER ?? 'postgres']).stdout);
}
