// A gateway that runs as a user of its own, as systemd starts it, and root who looks after it. Run as root, the service is "nobody"; run as another user,
// the service is that user and root comes by sudo, as .ci/run does.
import { spawn } from 'node:child_process';
import {
  chownSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAIN } from '../helpers/built.ts';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const isRoot = process.getuid?.() === 0;
const SERVICE = isRoot ? 65_534 : process.getuid!();
const { newHome } = homesOfTests();

interface Service extends AsyncDisposable {
  url: string;
  /** Everything it has printed. */
  printed: () => string;
}

async function startService(home: Home): Promise<Service> {
  const config = home.write('parley.config.json', { mcpServers: { weather: WEATHER }, listen: { port: 0 } });
  mkdirSync(join(home.path, 'state'));
  if (isRoot) for (const path of [home.path, join(home.path, 'state')]) chownSync(path, SERVICE, SERVICE);
  const child = spawn(process.execPath, [MAIN, 'serve', config], {
    cwd: '/',
    env: {
      PATH: process.env.PATH,
      HOME: join(home.path, 'state'),
      XDG_STATE_HOME: join(home.path, 'state'),
      PARLEY_TRUST: home.path,
    },
    ...(isRoot && { uid: SERVICE, gid: SERVICE }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const found = await until('the URL of the service', () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${printed}`);
    return /http:\/\/\S+?\/mcp/.exec(printed);
  });
  return {
    url: found[0],
    printed: () => printed,
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}

/** As root, from a folder that the service cannot read. */
async function asRoot(home: Home, args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH, HOME: '/root', XDG_STATE_HOME: join(home.path, 'state') };
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const command = [...(isRoot ? [] : ['sudo', '-n']), 'env', '-i', ...words, process.execPath, MAIN, ...args];
  const child = spawn(command[0]!, command.slice(1), {
    cwd: isRoot ? '/root' : '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, stdout, stderr };
}

async function initialize(url: string, key: string): Promise<number> {
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const { status } = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: opening }),
  });
  return status;
}

function ownersIn(folder: string): Set<number> {
  const names = readdirSync(folder, { recursive: true }) as string[];
  return new Set(names.map((name) => statSync(join(folder, name)).uid));
}

test('root adds and removes keys of a gateway that runs as another user, which takes them at once', async () => {
  const home = newHome();
  await using service = await startService(home);
  const added = await asRoot(home, ['key', 'add', 'laptop']);
  expect(added).toMatchObject({ status: 0, stderr: expect.stringContaining(`Acting as user ${SERVICE}`) });
  const key = added.stdout.trim();
  await until('the key to count', async () => (await initialize(service.url, key)) === 200);
  const second = (await asRoot(home, ['key', 'add', 'phone'])).stdout.trim();
  expect((await asRoot(home, ['key', 'ls'])).stdout).toMatch(/laptop[^]*phone/);
  expect(await asRoot(home, ['key', 'rm', 'laptop'])).toMatchObject({ status: 0 });
  await until('the key to end', async () => (await initialize(service.url, key)) === 401);
  await until('the other key to count', async () => (await initialize(service.url, second)) === 200);
  expect(ownersIn(join(home.path, 'state'))).toEqual(new Set([SERVICE]));
});

test('root sees a gateway that runs as another user, pairs browsers with it, and leaves no file that it cannot read', async () => {
  const home = newHome();
  await using service = await startService(home);
  expect(await asRoot(home, ['status'])).toMatchObject({ status: 0, stdout: expect.stringContaining('weather') });
  expect(await asRoot(home, ['ls'])).toMatchObject({ status: 0, stdout: expect.stringContaining('weather') });
  expect(JSON.parse((await asRoot(home, ['pair', '--json'])).stdout)).toMatchObject({ code: expect.any(String) });
  expect(await asRoot(home, ['pins'])).toMatchObject({ status: 0 });
  expect(service.printed()).not.toContain('EACCES');
  expect(ownersIn(join(home.path, 'state'))).toEqual(new Set([SERVICE]));
});

test('a gateway prints its token on a terminal only, and shows it to who asks for the lines', async () => {
  const home = newHome();
  await using service = await startService(home);
  const token = readFileSync(join(home.path, 'state', 'parley', 'token'), 'utf8').trim();
  expect(token).toMatch(/^parley_/);
  expect(service.printed()).toContain('Bearer TOKEN');
  expect(service.printed()).not.toContain(token);
  expect((await asRoot(home, ['status', '--lines'])).stdout).toContain(`Bearer ${token}`);
});

test('root starts no gateway in the state folder of another user', async () => {
  const home = newHome();
  const { stderr, status } = await (async () => {
    await using _ = await startService(home);
    return asRoot(home, ['serve', join(home.path, 'parley.config.json')]);
  })();
  expect(status).toBe(1);
  expect(stderr).toContain('belongs to another user');
});

test.runIf(isRoot)(
  'root acts as nobody else if the service puts a link where its state folder was, or above it',
  async () => {
    const home = newHome();
    const other = newHome();
    mkdirSync(join(other.path, 'state', 'parley'), { recursive: true });
    for (const part of ['', 'state', 'state/parley']) chownSync(join(other.path, part), 12_345, 12_345);
    mkdirSync(join(home.path, 'state', 'parley'), { recursive: true });
    for (const part of ['', 'state', 'state/parley']) chownSync(join(home.path, part), SERVICE, SERVICE);
    for (const part of ['state/parley', 'state']) {
      renameSync(join(home.path, part), join(home.path, 'before'));
      symlinkSync(join(other.path, part), join(home.path, part));
      lchownSync(join(home.path, part), SERVICE, SERVICE);
      const { status, stderr } = await asRoot(home, ['key', 'add', 'laptop']);
      expect([status, stderr]).toEqual([1, expect.stringContaining(`is a link of user ${SERVICE}`)]);
      expect(stderr).not.toContain('Acting as');
      unlinkSync(join(home.path, part));
      renameSync(join(home.path, 'before'), join(home.path, part));
    }
    expect(readdirSync(join(other.path, 'state', 'parley'))).toEqual([]);
    expect(await asRoot(home, ['key', 'add', 'laptop'])).toMatchObject({ status: 0 });
  },
);

test.runIf(isRoot)('root has the groups of the user of the service, and not the group of a folder', async () => {
  const home = newHome();
  const folder = join(home.path, 'state', 'parley');
  mkdirSync(folder, { recursive: true });
  for (const part of ['', 'state']) chownSync(join(home.path, part), SERVICE, SERVICE);
  chownSync(folder, SERVICE, 12_345);
  expect(await asRoot(home, ['key', 'add', 'laptop'])).toMatchObject({ status: 0 });
  const names = readdirSync(folder);
  expect(names).not.toEqual([]);
  expect(new Set(names.map((name) => statSync(join(folder, name)).gid))).toEqual(new Set([SERVICE]));
});
