// `parley doctor` and `parley init`, as processes: what they say of a machine where all is well, and of each thing that is not.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';

const { newHome, start } = homesOfTests();
const PLAIN = { PARLEY_TRUST: '' };

interface Report {
  status: string;
  checks: { check: string; level: string; what: string; fix?: string; measured?: Record<string, unknown> }[];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** In the user's own folder, with a port that is free. */
async function own(home: Home, config: object): Promise<string> {
  const path = join(home.path, 'config', 'parley', 'parley.config.json');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ listen: { port: await freePort() }, ...config }));
  return path;
}

async function examine(home: Home, ...words: string[]) {
  const { status, stdout, stderr } = await home.run(['doctor', '--json', ...words], '', PLAIN);
  expect(stderr).toBe('');
  const report = JSON.parse(stdout) as Report;
  const of = (check: string) => report.checks.filter((one) => one.check === check);
  return { status, report, of, stdout };
}

const script = (text: string) => ({ command: process.execPath, args: ['-e', text] });

describe('parley doctor', () => {
  test('says that all is well, and what each server costs', async () => {
    const home = newHome();
    await own(home, { mcpServers: { weather: WEATHER, also: { ...WEATHER, args: [...WEATHER.args, '--also'] } } });
    const { status, report, of } = await examine(home);
    expect([status, report.status]).toEqual([0, 'ok']);
    const [weather] = of('server weather');
    expect(weather).toMatchObject({
      level: 'ok',
      measured: { tools: expect.any(Number), revision: expect.any(String) },
    });
    expect(weather!.measured!['tokens']).toBeGreaterThan(10);
    expect(of('node')[0]!.measured).toMatchObject({ node: process.versions.node });
    const { stdout, status: plain } = await home.run(['doctor'], '', PLAIN);
    expect(plain).toBe(0);
    expect(stdout).toContain('All is well.');
  });

  test('says why a server fails, the line with the error first', async () => {
    const home = newHome();
    const why = 'class BindingError extends Error {}; throw new BindingError("Could not locate the bindings file")';
    const paths = `process.stderr.write("    at /some/path/\\n".repeat(200)); process.exit(3)`;
    await own(home, {
      mcpServers: {
        bad: script(`try { ${why} } catch (thrown) { console.error(thrown.stack); ${paths} }`),
        gone: { command: 'no-such-command-here' },
        weather: WEATHER,
      },
    });
    const { status, of } = await examine(home);
    expect(status).toBe(2);
    expect(of('server bad')[0]).toMatchObject({ level: 'problem' });
    expect(of('server bad')[0]!.what).toMatch(/^(?:Binding)?Error: Could not locate the bindings file/);
    expect(of('server gone')[0]!.what).toContain('command not found');
    expect(of('server weather')[0]!.level).toBe('ok');
  });

  test('warns of packages without a version, and of nothing that has one', async () => {
    const home = newHome();
    const npx = (...args: string[]) => ({ command: 'npx', args, disabled: false });
    const path = await own(home, { mcpServers: { weather: WEATHER } });
    const write = (servers: object): void =>
      writeFileSync(
        path,
        readFileSync(path, 'utf8').replace(/"mcpServers":.*$/, `"mcpServers":${JSON.stringify(servers)}}`),
      );
    write({
      pinned: npx('--offline', '-y', '@scope/nothing-of-this-name@1.2.3'),
      tagged: npx('--offline', '-y', 'nothing-of-this-name@latest'),
      bare: npx('--offline', '--package', '@scope/nothing-of-this-name', 'run'),
    });
    const { of } = await examine(home, '--timeout', '20');
    expect(of('packages')[0]).toMatchObject({ level: 'warning' });
    expect(of('packages')[0]!.measured).toEqual({
      packages: [
        { name: 'tagged', spec: 'nothing-of-this-name@latest' },
        { name: 'bare', spec: '@scope/nothing-of-this-name' },
      ],
    });
  });

  test('names the file that a client really reads, one that it does not, and one that is broken', async () => {
    const home = newHome();
    await own(home, { mcpServers: { weather: WEATHER } });
    const write = (name: string, text: string): void => {
      mkdirSync(dirname(join(home.path, name)), { recursive: true });
      writeFileSync(join(home.path, name), text);
    };
    write('.cursor/mcp.json', JSON.stringify({ mcpServers: { a: { command: 'npx', args: ['a'] } } }));
    write('.codeium/windsurf/mcp_config.json', '{ "mcpServers": {');
    write('config/opencode/opencode.json', '{}');
    write('config/opencode/opencode.jsonc', '{}');
    const { status, of } = await examine(home);
    expect(status).toBe(2);
    expect(of('client cursor')[0]).toMatchObject({
      level: 'ok',
      fix: expect.stringContaining('connect cursor') as string,
    });
    expect(of('client windsurf')[0]).toMatchObject({ level: 'problem' });
    expect(of('client opencode').map(({ level }) => level)).toEqual(['ok', 'warning']);
    expect(of('client opencode')[1]!.what).toMatch(/opencode\.json is there, but OpenCode reads .*opencode\.jsonc$/);
  });

  test('starts nothing of a file that is not trusted', async () => {
    const home = newHome();
    const mark = join(home.path, 'mark');
    home.write('parley.config.json', {
      mcpServers: { x: script(`require('node:fs').writeFileSync(${JSON.stringify(mark)}, '')`) },
    });
    const { status, of } = await examine(home);
    expect([status, existsSync(mark), of('server x')]).toEqual([2, false, []]);
    expect(of('trust')[0]).toMatchObject({ level: 'problem', fix: expect.stringContaining('parley trust') as string });
  });

  test('says who has the port, and shows no secret', async () => {
    const home = newHome();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await own(home, {
      listen: { port },
      mcpServers: {
        x: {
          ...script('console.error("token is top-s3cret-value-1234"); process.exit(1)'),
          env: { API_TOKEN: 'top-s3cret-value-1234' },
        },
      },
    });
    const { status, of, stdout } = await examine(home);
    taken.close();
    expect([status, of('port')[0]!.level]).toEqual([2, 'warning']);
    if (process.platform === 'linux') expect(of('port')[0]!.measured!['pid']).toBe(process.pid);
    expect(stdout).not.toContain('s3cret');
  });

  test('names the gateway that has the port, which is as it should be', async () => {
    const home = newHome();
    const path = await own(home, { mcpServers: { weather: WEATHER } });
    const gateway = start(home, ['serve', path], PLAIN);
    await gateway.url();
    const { status, of } = await examine(home);
    expect(of('port')[0]).toMatchObject({ level: 'ok', measured: { pid: gateway.child.pid } });
    expect(of('gateways')[0]).toMatchObject({ level: 'ok', measured: { pid: gateway.child.pid } });
    expect(status).toBe(0);
  });

  test('a port that is taken says by whom, to serve, too', async () => {
    const home = newHome();
    const demo = start(home, ['demo', '--port', '0'], PLAIN);
    const { port } = new URL(await demo.url());
    const path = await own(home, { mcpServers: { weather: WEATHER } });
    const { status, stderr } = await home.run(['serve', path, '--port', port], '', PLAIN);
    expect(status).toBe(1);
    expect(stderr).toContain(`is taken by parley demo, process ${demo.child.pid}`);
  });

  test('says what to do where there is no configuration', async () => {
    const { status, of } = await examine(newHome());
    expect(status).not.toBe(2);
    expect(of('config')[0]!.fix).toContain('parley init');
  });
});

describe('parley init', () => {
  test('writes a configuration that check accepts, that only the user can read, and that needs no trust', async () => {
    const home = newHome();
    const { status, stdout } = await home.run(['init'], '', PLAIN);
    const path = join(home.path, 'config', 'parley', 'parley.config.jsonc');
    expect([status, stdout.includes('parley.config.jsonc')]).toEqual([0, true]);
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await home.run(['check'], '', PLAIN)).status).toBe(0);
    const again = await home.run(['init'], '', PLAIN);
    expect([again.status, again.stderr.includes('is there already')]).toEqual([1, true]);
  });

  test.each(['here.json', 'here.jsonc', 'here.yaml'])(
    'writes %s, says that it has to be trusted, and never writes over a file',
    async (name) => {
      const home = newHome();
      const { status, stdout } = await home.run(['init', name], '', PLAIN);
      expect([status, stdout.includes('parley trust')]).toEqual([0, true]);
      expect((await home.run(['check', name], '', PLAIN)).status).toBe(0);
      writeFileSync(join(home.path, name), 'mine');
      expect((await home.run(['init', name], '', PLAIN)).status).toBe(1);
      expect(readFileSync(join(home.path, name), 'utf8')).toBe('mine');
    },
  );

  test('refuses a name that no reader would know', async () => {
    const home = newHome();
    const { status, stderr } = await home.run(['init', 'here.txt'], '', PLAIN);
    expect([status, existsSync(join(home.path, 'here.txt'))]).toEqual([1, false]);
    expect(stderr).toContain('must end in .jsonc');
  });
});
