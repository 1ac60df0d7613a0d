// The key of the logins in the keychain of the system, with `@napi-rs/keyring` beside Parley: with that of GNOME, where there is none, and with a
// stand-in for it, which keeps passwords in a file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserOf } from '../../helpers/browser-program.ts';
import { ROOT } from '../../helpers/files.ts';
import { startOidcServer } from '../../helpers/oidc-server.ts';
import type { OidcServer } from '../../helpers/oidc-server.ts';
import { homesOfTests } from '../../helpers/parley.ts';
import type { Ended, Home } from '../../helpers/parley.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { hasTool } from '../../helpers/tools.ts';

const REAL = join(ROOT, 'tests', 'peers', 'node_modules', '@napi-rs');
/** Keeps what it is given in the file KEYCHAIN, as a keychain would, slowly. */
const STAND_IN = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const file = process.env.KEYCHAIN;
export class AsyncEntry {
  constructor(...name) { this.name = JSON.stringify(name); }
  async getPassword() {
    await sleep(5);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\\n').filter(Boolean).map((line) => JSON.parse(line)) : [];
    return lines.findLast(([name]) => name === this.name)?.[1] ?? null;
  }
  async setPassword(password) {
    await sleep(5);
    appendFileSync(file, JSON.stringify([this.name, password]) + '\\n');
  }
}`;

const { newHome } = homesOfTests();
const folders: string[] = [];
let server: OidcServer;
beforeAll(async () => {
  server = await startOidcServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  for (const folder of folders) removeFolder(folder);
});

/** Parley as npm installs it, with its dependencies and a keyring beside it. */
function install(keyring: 'real' | 'stand-in'): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-installed-'));
  folders.push(folder);
  const modules = join(folder, 'node_modules');
  cpSync(join(ROOT, 'dist'), join(modules, 'mcp-parley', 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(modules, 'mcp-parley', 'package.json'));
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object };
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  if (keyring === 'real') symlinkSync(REAL, join(modules, '@napi-rs'));
  else {
    const own = join(modules, '@napi-rs', 'keyring');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'package.json'), '{"name":"@napi-rs/keyring","type":"module","main":"index.js"}');
    writeFileSync(join(own, 'index.js'), STAND_IN);
  }
  return join(modules, 'mcp-parley', 'dist', 'cli', 'main.js');
}

async function run(main: string, home: Home, args: string[], more: Record<string, string> = {}): Promise<Ended> {
  const { cwd, env } = home.address([]);
  const keychain = { KEYCHAIN: join(home.path, 'keychain'), DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };
  const child = spawn(process.execPath, [main, ...args], { cwd, env: { ...env, ...keychain, ...more }, stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const status = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  return { status, stdout, stderr };
}

describe('a keychain that works', () => {
  it('has the key, and without it nobody reads the logins', async () => {
    const main = install('stand-in');
    const home = newHome();
    expect((await run(main, home, ['login', server.url], browserOf(home))).stdout).toContain('Logged in');
    expect((await run(main, home, ['call', 'whoami', server.url])).stdout).toContain('hello');
    const { stdout } = await run(main, home, ['logins']);
    expect(stdout).toContain(server.url);
    expect(stdout).toContain('the key is in the keychain.');
    expect(readFileSync(join(home.path, 'keychain'), 'utf8').trim().split('\n')).toHaveLength(1);
    // The key file alone opens nothing.
    expect((await home.run(['logins'])).stdout).toMatch(
      /^You are logged in nowhere\.\n1 login cannot be read with the key in .*keys\. Was the key in a keychain/,
    );
    rmSync(join(home.path, 'keychain'));
    expect((await run(main, home, ['logins'])).stdout).toContain(
      '1 login cannot be read with the key in the keychain.',
    );
  });

  it('takes over from the key file: who was logged in before still is', async () => {
    const home = newHome();
    expect((await home.run(['login', server.url], '', browserOf(home))).status).toBe(0);
    const main = install('stand-in');
    expect((await run(main, home, ['call', 'whoami', server.url])).stdout).toContain('hello');
    expect(existsSync(join(home.path, 'keychain'))).toBe(true);
  });

  it('gets one key, whatever number of processes begin at once', async () => {
    const main = install('stand-in');
    const home = newHome();
    await Promise.all(Array.from({ length: 6 }, () => run(main, home, ['logins'])));
    expect(readFileSync(join(home.path, 'keychain'), 'utf8').trim().split('\n')).toHaveLength(1);
    expect(readdirSync(join(home.path, 'state', 'parley', 'logins'))).toEqual([]);
  });
});

/** GNOME's keychain on a bus of its own; ends with the bus. */
async function startKeychain(home: Home): Promise<Disposable & { env: Record<string, string> }> {
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [address] = (await once(bus.stdout.setEncoding('utf8'), 'data')) as [string];
  const env = { DBUS_SESSION_BUS_ADDRESS: address.trim() };
  const own = { HOME: home.path, XDG_DATA_HOME: join(home.path, 'data'), XDG_RUNTIME_DIR: home.path };
  const keyring = spawn('gnome-keyring-daemon', ['--unlock', '--components=secrets'], {
    env: { PATH: process.env['PATH'] ?? '', ...own, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keyring.stdin.end('password');
  await once(keyring, 'exit'); // it goes on in the background, and answers from now on
  return { env, [Symbol.dispose]: () => void bus.kill() };
}

const hasKeychain = hasTool('dbus-daemon', 'dbus') && hasTool('gnome-keyring-daemon', 'gnome-keyring');

describe.skipIf(!hasKeychain)('the real package with a real keychain', () => {
  it('has the key there, and without it nobody reads the logins', async () => {
    const [main, home] = [install('real'), newHome()];
    using keychain = await startKeychain(home);
    const { env } = keychain;
    const login = await run(main, home, ['login', server.url], { ...browserOf(home), ...env });
    expect(login.stdout).toContain('Logged in');
    expect((await run(main, home, ['call', 'whoami', server.url], env)).stdout).toContain('hello');
    expect((await run(main, home, ['logins'], env)).stdout).toContain('the key is in the keychain.');
    // The key file alone opens nothing.
    expect((await home.run(['logins'])).stdout).toMatch(/^You are logged in nowhere\.\n1 login cannot be read/);
  });
});

// The address of the keychain that is given here leads nowhere; other systems have theirs elsewhere.
describe.skipIf(process.platform !== 'linux')('the real package without a keychain', () => {
  it('leaves the key in its file, and `parley logins` says why', async () => {
    const main = install('real');
    const home = newHome();
    expect((await run(main, home, ['login', server.url], browserOf(home))).stdout).toContain('Logged in');
    expect((await run(main, home, ['call', 'whoami', server.url])).stdout).toContain('hello');
    const { stdout, status } = await run(main, home, ['logins']);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/the key is in .*keys\. The keychain does not work: .*D-?Bus/i),
    ]);
    // It is the same key as without the package.
    expect((await home.run(['call', 'whoami', server.url])).stdout).toContain('hello');
  });
});
