// `parley serve` with three servers, one of which is dead, and the commands that ask a gateway that runs.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send } from '../helpers/http-wire.ts';
import { stdioWire } from '../helpers/line-wire.ts';
import { MODERN, ask, modern, openSession } from '../helpers/mcp-http.ts';
import { DEMO_FIXTURE, EXTERNAL, Home, PARLEY_DEMO } from '../helpers/parley.ts';
import type { Parley } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const home = new Home();
afterAll(() => home[Symbol.dispose]());

const toServer = ([command, ...args]: string[]): object => ({ command, args });
/** Pinned: one that takes long to start on a busy machine is taken for a server of the other era. */
const DEMO = { ...toServer(PARLEY_DEMO), revision: MODERN };
const THREE = { weather: toServer(EXTERNAL), demo: DEMO, dead: { command: 'no-such-command-here' } };

function stateFiles(of: Home = home): string[] {
  const folder = join(of.path, 'state', 'parley');
  return existsSync(folder) ? readdirSync(folder).filter((name) => /^gateway-\d+\.json$/.test(name)) : [];
}

/** Servers start when a client first asks what there is. */
async function toolsAt(url: string): Promise<string[]> {
  const { json } = await send(url, modern('tools/list'));
  return (json.result!.tools as { name: string }[]).map(({ name }) => name);
}

describe('a gateway with three servers', () => {
  let gateway: Parley;
  let url: string;

  beforeAll(async () => {
    home.write(
      'parley.config.jsonc',
      `// three servers\n${JSON.stringify({ mcpServers: THREE, listen: { port: 0 } })}`,
    );
    gateway = home.start(['serve', '--open']);
    url = await gateway.url();
    await gateway.says('url = "http');
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  it('says where it is and what to paste', () => {
    expect(gateway.stdout).toContain('3 servers of parley.config.jsonc');
    expect(gateway.stdout).toContain(`claude mcp add --transport http parley ${url}`);
    for (const name of Object.keys(THREE)) expect(gateway.stdout).toContain(`…/mcp/${name}`);
  });

  it('answers for all of them at /mcp, and for each at /mcp/<server>', async () => {
    expect(await toolsAt(url)).toEqual(expect.arrayContaining(['weather__get_weather', 'demo__add']));
    expect(await ask(url, 'weather__get_weather', { location: 'Oslo' })).toContain('Oslo');
    expect(await ask(url, 'demo__add', { a: 2, b: 40 })).toContain('42');
    expect(await ask(`${url}/demo`, 'add', { a: 1, b: 1 })).toContain('2');
    const session = await openSession(`${url}/weather`);
    const { json } = await session.request('tools/list');
    expect(JSON.stringify(json.result)).not.toContain('countdown');
    const unknown = modern('tools/list');
    expect((await send(`${url}/nobody`, unknown)).status).toBe(404);
  });

  it('is found by status, which says why one is failing', async () => {
    // One that does not say in time how many tools it has is shown without them; one that is tried again is starting.
    const { status, stdout } = await until('a status with everything in it', async () => {
      const ended = await home.run(['status']);
      return (
        (ended.stdout.match(/stdio +\d+ /g)?.length === 2 && ended.stdout.includes('failing') && ended) || undefined
      );
    });
    expect(status).toBe(1);
    expect(stdout).toContain(url);
    expect(stdout).toMatch(/weather +ready +2025-03-26 +handshake +stdio +\d+ +[\d,]+ +external 1\.0\.0/);
    expect(stdout).toMatch(/demo +ready +2026-07-28 +stateless +stdio +\d+ +[\d,]+ +parley-demo/);
    expect(stdout).toMatch(/dead +failing/);
    expect(stdout).toContain('command not found: no-such-command-here');
  });

  it('tells its status as JSON, by URL as well', async () => {
    const { stdout } = await home.run(['status', '--json', '--url', url], '', { XDG_STATE_HOME: '/nowhere' });
    const told = JSON.parse(stdout) as { url: string; pid: number; servers: { name: string; state: string }[] };
    expect(told).toMatchObject({ url, pid: gateway.child.pid });
    expect(told.servers.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'weather ready',
      'demo ready',
      'dead failing',
    ]);
  });

  it('tells its status to this machine alone', async () => {
    const page = new URL('/status', url).href;
    expect((await send(page, { method: 'GET' })).status).toBe(200);
    expect((await send(page, { method: 'GET', headers: { host: 'gateway.example' } })).status).toBe(403);
    expect((await send(page, { method: 'GET', headers: { 'x-forwarded-for': '192.0.2.1' } })).status).toBe(403);
    expect((await send(page, { method: 'POST' })).status).toBe(405);
  });

  it('is found by ls', async () => {
    const all = await home.run(['ls']);
    expect(all.status).toBe(0);
    for (const words of ['tools (', 'demo__add ', 'demo://about', 'plan_evening', 'servers (3)', 'failing']) {
      expect(all.stdout).toContain(words);
    }
    expect(all.stderr).toContain('dead is failing: Cannot reach no-such-command-here');
    const tools = await home.run(['ls', 'tools', '--json']);
    const names = (JSON.parse(tools.stdout) as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['weather__get_weather', 'demo__add', 'demo__book_table']));
  });

  it('is found by call, which reads arguments as the tool wants them', async () => {
    expect(await home.run(['call', 'demo__add', '--arg', 'a=2', '--arg', 'b=40'])).toMatchObject({
      status: 0,
      stdout: '{"sum":42}\n',
    });
    const json = await home.run(['call', 'demo__weather', '{"city": "Oslo"}', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ structuredContent: { city: 'Oslo' } });
  });

  it('tells the progress of a call on stderr', async () => {
    const { status, stdout, stderr } = await home.run(['call', 'demo__countdown', '--arg', 'from=1']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Counted down from 1.\n' });
    expect(stderr).toMatch(/0 % {2}1 …\n.*100 % {2}Lift-off/s);
  });

  it('lets a tool ask on the terminal', async () => {
    const answers = 'Ada\n9\n2\nmany\n3\n';
    const { status, stdout, stderr } = await home.run(['call', 'demo__book_table'], answers);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Booked: 3 at 19:00 for Ada.\n' });
    expect(stderr).toContain('needs your answer: A table for tonight: please fill in.');
    expect(stderr).toContain('Type a number from 1 to 4.');
  });

  it('takes an end of input for a no to what is asked, and a word for another', async () => {
    for (const input of ['', 'Ada\n:no\n']) {
      const { stdout } = await home.run(['call', 'demo__book_table'], input);
      expect(stdout).toBe('Nothing was booked: the user did not want to.\n');
    }
  });

  it('says which tools there are when one is not', async () => {
    const { status, stdout, stderr } = await home.run(['call', 'nonsense']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('Unknown tool: nonsense');
    expect(stderr).toMatch(/There are: .*book_table/);
    expect((await home.run(['call', 'demo__book_tabel'])).stderr).toContain(
      'Did you mean "demo__book_table"? There are:',
    );
  });

  it('gives a tool that fails the exit status 1', async () => {
    const { status, stdout, stderr } = await home.run(['call', 'demo__add', '--arg', 'a=x', '--arg', 'b=1']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('add failed:');
  });

  it('removes its state file and its servers when it ends', async () => {
    expect(stateFiles()).toEqual([`gateway-${gateway.child.pid}.json`]);
    expect(await gateway.stop('SIGTERM')).toBe(0);
    expect(stateFiles()).toEqual([]);
    const { status, stderr } = await home.run(['status']);
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('no gateway is running') });
  });
});

describe('a state file that a gateway left behind', () => {
  it('is ignored, and swept away by the next one', async () => {
    using own = new Home();
    own.write('one.json', { mcpServers: { weather: toServer(EXTERNAL) } });
    await using killed = own.start(['serve', 'one.json', '--port', '0', '--open']);
    await killed.says('url = "http');
    await killed.stop('SIGKILL');
    expect(stateFiles(own)).toHaveLength(1);
    expect((await own.run(['status'])).stderr).toContain('no gateway is running');
    await using next = own.start(['serve', 'one.json', '--port', '0', '--open']);
    await next.says('url = "http');
    expect(stateFiles(own)).toEqual([`gateway-${next.child.pid}.json`]);
  });
});

describe('without a gateway', () => {
  it('ls and call talk to the servers of the configuration', async () => {
    using own = new Home();
    const file = own.write('mcp.json', { mcpServers: { a: toServer(EXTERNAL), dead: THREE.dead } });
    const listed = await own.run(['ls', 'tools', file]);
    expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining('get_weather') });
    expect(listed.stderr).toContain('dead is failing');
    const called = await own.run(['call', 'a__get_weather', '--arg', 'location=Oslo', '--config', file]);
    expect(called).toMatchObject({ status: 0, stdout: 'The weather in Oslo is 72°F and sunny.\n' });
    const none = await own.run(['call', 'get_weather']);
    expect(none).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no gateway is running here, and no configuration was found'),
    });
  });
});

describe('a gateway on stdio', () => {
  it('keeps stdout for the client, and has a port, too, when it is asked for one', async () => {
    using own = new Home();
    const file = own.write('mcp.json', { mcpServers: { a: toServer(EXTERNAL), b: toServer(DEMO_FIXTURE) } });
    await using gateway = own.start(['serve', file, '--stdio', '--port', '0', '--open']);
    const client = stdioWire(gateway.child);
    await client.initialize();
    expect((await client.call('b__probe_fail')).result).toMatchObject({ isError: true });
    const [url] = await gateway.says(/http:\/\/\S+?\/mcp/);
    expect(gateway.stdout).not.toContain('http://');
    expect(await ask(url, 'a__get_weather', { location: 'Bern' })).toContain('Bern');
    gateway.child.stdin!.end();
    expect(await gateway.ended()).toBe(0);
  });

  it('starts its servers when the client speaks, and each of them once', async () => {
    using own = new Home();
    const up = join(own.path, 'up-');
    const program = `require('fs').writeFileSync(${JSON.stringify(up)} + process.pid, ''); import(${JSON.stringify(`file://${EXTERNAL[1]!}`)})`;
    const server = { command: process.execPath, args: ['-e', program] };
    const starts = () => readdirSync(own.path).filter((name) => name.startsWith('up-')).length;
    own.write('mcp.json', { mcpServers: { a: server, off: { ...server, disabled: true }, same: server } });
    await using gateway = own.start(['serve', 'mcp.json', '--stdio']);
    const client = stdioWire(gateway.child);
    const initialized = client.initialize();
    await until('a server to be up', () => starts() > 0);
    await initialized;
    const { result } = await client.request('tools/list');
    expect(JSON.stringify(result)).toContain('get_weather');
    expect(starts()).toBe(2);
  });
});

describe('a configuration that changes', () => {
  it('is followed; one with errors changes nothing and is told', async () => {
    using own = new Home();
    const write = (servers: object): string => own.write('parley.config.json', { mcpServers: servers });
    write({ a: toServer(EXTERNAL) });
    await using gateway = own.start(['serve', '--port', '0', '--open']);
    const url = await gateway.url();
    expect(await ask(url, 'get_weather', { location: 'Oslo' })).toContain('Oslo');
    write({ a: toServer(EXTERNAL), b: toServer(PARLEY_DEMO) });
    await gateway.says('parley.config.json has changed: started b.');
    await until('the new server to be there', async () => (await toolsAt(url)).includes('b__add'));
    own.write('parley.config.json', '{ "mcpServers": { "a": ');
    await gateway.says('cannot be used; the previous configuration keeps running');
    expect(await ask(url, 'b__add', { a: 1, b: 1 })).toContain('2');
    write({ a: toServer(EXTERNAL) });
    await gateway.says('stopped b');
    const { json } = await send(url, modern('tools/call', { name: 'add', arguments: { a: 1, b: 1 } }));
    expect(json.error?.message).toContain('Unknown tool');
    expect(await ask(url, 'get_weather', { location: 'Rome' })).toContain('Rome');
  });
});

it('a file that only names where sessions of flows are is not served, and the command says how flows are', async () => {
  using alone = new Home();
  alone.write('parley.config.jsonc', { flows: { store: 'sqlite:flows.db' } });
  const refused = await alone.run(['serve']);
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  expect(refused.stderr).toContain('this file names no server, only where `parley flows` finds sessions');
  expect(refused.stderr).toContain('"mcpServers": { "trips": "http://127.0.0.1:8080/mcp" }');
  expect(refused.stderr).toContain('parley: there is nothing to serve.');
});
