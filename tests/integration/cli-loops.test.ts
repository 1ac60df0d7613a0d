// A gateway that leads back to itself: by its own URL, by its own command, or by way of another gateway. Most tests here do
// not limit the processes that a broken gateway would start: run it under `ulimit -u` when you change the guard.
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import type { Server as HttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { MAIN } from '../helpers/built.ts';
import { send } from '../helpers/http-wire.ts';
import { ask, modern, openSession } from '../helpers/mcp-http.ts';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function tools(url: string): Promise<string[]> {
  const { json } = await send(url, modern('tools/list'));
  return ((json.result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
}

/** Every process below this one whose command line names parley's main file. */
function gatewaysBelow(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // ended meanwhile
    }
  }
  const isBelow = (one: number): boolean => one === pid || (parents.has(one) && isBelow(parents.get(one)!));
  return [...parents.keys()].filter((one) => one !== pid && isBelow(one) && commandLine(one).includes(MAIN));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

it.each(['127.0.0.1', 'localhost', '[::1]', '127.0.0.9'])(
  'its own URL at %s, pasted while it runs, is left out',
  async (host) => {
    const home = newHome();
    const file = home.write('mcp.json', { mcpServers: { weather: WEATHER } });
    const gateway = start(home, ['serve', file, '--port', '0', '--open']);
    const url = await gateway.url();
    const { port } = new URL(url);
    home.write('mcp.json', { mcpServers: { weather: WEATHER, parley: { url: `http://${host}:${port}/mcp/weather` } } });
    await gateway.says(/mcp\.json:\d+:\d+: warning: mcpServers\.parley: this is the URL of the gateway itself/);
    expect(await tools(url)).toContain('get_weather');
    expect(await ask(url, 'get_weather', { location: 'Oslo' })).toContain('Oslo');
    const { stdout } = await home.run(['status', '--json']);
    expect((JSON.parse(stdout) as { servers: { name: string }[] }).servers.map(({ name }) => name)).toEqual([
      'weather',
    ]);
  },
);

it('its own URL that is in the file from the start is left out', async () => {
  const home = newHome();
  const port = await freePort();
  const file = home.write('mcp.json', {
    mcpServers: { weather: WEATHER, parley: { url: `http://localhost:${port}/mcp` } },
  });
  const gateway = start(home, ['serve', file, '--port', String(port), '--open']);
  await gateway.says('this is the URL of the gateway itself');
  expect(await tools(await gateway.url())).toContain('get_weather');
});

it('a file in which the gateway replaces all servers is refused with advice, and the running servers stay', async () => {
  const home = newHome();
  const file = home.write('mcp.json', { mcpServers: { weather: WEATHER } });
  const gateway = start(home, ['serve', file, '--port', '0', '--open']);
  const url = await gateway.url();
  await gateway.says('copy its servers to parley.config.jsonc');
  home.write('mcp.json', { mcpServers: { parley: { url } } });
  await gateway.says(
    'error: mcpServers: nothing is left to serve but the gateway itself. Keep the servers in a file of',
  );
  await gateway.says('the previous configuration keeps running');
  expect(await tools(url)).toContain('get_weather');
  const again = await home.run(['serve', file, '--port', new URL(url).port]);
  expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('write them to parley.config.jsonc') });
  home.write('mcp.json', { mcpServers: {} });
  await gateway.says('warning: there is no server to serve. Clients will see an empty gateway.');
  await gateway.says('stopped weather');
});

it.each([
  ['serve', (_: string, file: string) => ['serve', file, '--stdio']],
  ['wrap', (url: string) => ['wrap', url]],
])('its own command with %s, pasted while it runs, is left out', async (_, toArgs) => {
  const home = newHome();
  const file = home.write('mcp.json', { mcpServers: { weather: WEATHER } });
  const gateway = start(home, ['serve', file, '--port', '0', '--open']);
  const url = await gateway.url();
  const args = ['-y', 'mcp-parley', ...toArgs(url, file)];
  home.write('mcp.json', { mcpServers: { weather: WEATHER, parley: { command: 'npx', args } } });
  await gateway.says(/warning: mcpServers\.parley: this command (serves the same file again|leads back)/);
  expect(await tools(url)).toContain('get_weather');
  expect(gatewaysBelow(gateway.child.pid!)).toEqual([]);
});

it('a command that hides that it serves the same file is refused by the gateway it starts', async () => {
  const home = newHome();
  const { command, args = [], env } = home.address(['serve', 'mcp.json', '--stdio']);
  const line = [command, ...args].map((word) => `'${word}'`).join(' ');
  const hidden = { command: 'sh', args: ['-c', `exec ${line}`], cwd: home.path, env };
  home.write('mcp.json', { mcpServers: { weather: WEATHER, hidden } });
  const gateway = start(home, ['serve', 'mcp.json', '--port', '0', '--open']);
  const url = await gateway.url();
  expect(await tools(url)).toContain('weather__get_weather');
  const failure = await until('the reason', async () => {
    const { stdout } = await home.run(['status', '--json']);
    const { servers } = JSON.parse(stdout) as { servers: { name: string; failure: string | null }[] };
    return servers.find(({ name }) => name === 'hidden')?.failure;
  });
  expect(failure).toContain('is served by the gateway that started this one');
  expect(gatewaysBelow(gateway.child.pid!).length).toBeLessThan(3);
});

it.each([
  ['2026-07-28', {}],
  ['2025-11-25', { revision: '2025-11-25' }],
])('two gateways that contain each other answer with what each has (%s)', async (_, settings) => {
  const [one, two] = [newHome(), newHome()];
  const [onePort, twoPort] = [await freePort(), await freePort()];
  const entry = (port: number) => ({ url: `http://127.0.0.1:${port}/mcp`, ...settings });
  const [first, second] = [
    { weather: WEATHER, two: entry(twoPort) },
    { forecast: WEATHER, one: entry(onePort) },
  ];
  const a = start(one, ['serve', one.write('a.json', { mcpServers: first }), '--port', String(onePort), '--open']);
  const b = start(two, ['serve', two.write('b.json', { mcpServers: second }), '--port', String(twoPort), '--open']);
  const [aUrl, bUrl] = [await a.url(), await b.url()];
  // In turns: by the second round both have an open connection to the other, which knows nothing of this client.
  for (let round = 0; round < 3; round++) {
    for (const url of [aUrl, bUrl]) {
      const names = await tools(url);
      expect(names.filter((name) => name.endsWith('get_weather')).length).toBeGreaterThanOrEqual(1);
      expect(names.length).toBeLessThan(20);
      const session = await openSession(url);
      expect(JSON.stringify((await session.request('tools/list')).json)).toContain('get_weather');
    }
  }
  expect(a.child.exitCode ?? b.child.exitCode).toBeNull();
});

it('gateways that hold each other have the same lists however often they are asked', async () => {
  const [one, other] = [newHome(), newHome()];
  const [a, b] = [await freePort(), await freePort()];
  const toFile = (home: Home, port: number): string =>
    home.write('mcp.json', { mcpServers: { weather: WEATHER, next: { url: `http://127.0.0.1:${port}/mcp` } } });
  const urls = await Promise.all([
    start(one, ['serve', toFile(one, b), '--port', String(a), '--open']).url(),
    start(other, ['serve', toFile(other, a), '--port', String(b), '--open']).url(),
  ]);
  const lists = async (): Promise<string[][]> => [await tools(urls[0]), await tools(urls[1])];
  const first = await until('the tools of both in both', async () => {
    const found = await lists();
    return found.every((names) => names.includes('next__weather__get_weather')) ? found : undefined;
  });
  for (let round = 0; round < 5; round++) expect(await lists()).toEqual(first);
  expect(first.join()).not.toContain('next__next__');
});

it('a gateway before a gateway before a server works, by URL and by command', async () => {
  const [outer, middle, inner] = [newHome(), newHome(), newHome()];
  const c = start(inner, [
    'serve',
    inner.write('c.json', { mcpServers: { weather: WEATHER } }),
    '--port',
    '0',
    '--open',
  ]);
  const file = middle.write('b.json', { mcpServers: { c: { url: await c.url() } } });
  const { command, args, env } = middle.address(['serve', file, '--stdio']);
  const a = start(outer, [
    'serve',
    outer.write('a.json', { mcpServers: { b: { command, args, env } } }),
    '--port',
    '0',
    '--open',
  ]);
  const url = await a.url();
  const name = (await tools(url)).find((one) => one.endsWith('get_weather'))!;
  expect(await ask(url, name, { location: 'Oslo' })).toContain('Oslo');
});

it('an id that comes back is refused with a reason, in every form it comes in', async () => {
  const home = newHome();
  // A server that tells which variable it was given.
  const spy = `process.stdin.on('data', (d) => { const m = JSON.parse(String(d).split('\\n')[0]);
    if (m.method === 'initialize') process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: {
      protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: process.env.PARLEY_VIA, version: '1' } } }) + '\\n');
    else if (m.id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'no' } }) + '\\n'); });`;
  home.write('mcp.json', { mcpServers: { spy: { command: process.execPath, args: ['-e', spy] }, weather: WEATHER } });
  const gateway = start(home, ['serve', 'mcp.json', '--port', '0', '--open']);
  const url = await gateway.url();
  await tools(url);
  const id = await until('the id', async () => {
    const { stdout } = await home.run(['status', '--json']);
    const { servers } = JSON.parse(stdout) as { servers: { name: string; info: { name: string } | null }[] };
    return servers.find(({ name }) => name === 'spy')?.info?.name;
  });
  const request = modern('tools/list');
  const byHeader = await send(url, { ...request, headers: { ...request.headers, 'parley-via': `other,${id}` } });
  expect([byHeader.status, byHeader.json.error?.message]).toEqual([508, expect.stringContaining('is in a loop')]);
  const byMeta = await send(url, modern('tools/list', {}, { 'mcp-parley/via': [id] }));
  expect(byMeta.json.error?.message).toContain('is in a loop');
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { ...params, _meta: { 'mcp-parley/via': [id] } },
  };
  expect((await send(url, { body })).json.error?.message).toContain('is in a loop');
  // Another gateway's id is fine, and too many of them are not.
  const many = Array.from({ length: 9 }, (_, index) => `g${index}`).join(',');
  const far = await send(url, { ...request, headers: { ...request.headers, 'parley-via': many } });
  expect(far.json.error?.message).toContain('9 gateways');
  const near = await send(url, { ...request, headers: { ...request.headers, 'parley-via': 'other' } });
  expect(near.status).toBe(200);
});

/** An entry that starts this gateway once more with an empty environment, so that nothing is inherited; at most six times in all. */
function withoutEnvironment(home: Home, args: string[]) {
  const { command, args: words = [], env = {} } = home.address(args);
  const kept = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const line = ['env', '-i', ...kept, command, ...words].map((word) => `'${word}'`).join(' ');
  const limit = 'echo started >> starts; [ $(wc -l < starts) -gt 6 ] && exit 1';
  return { command: 'sh', args: ['-c', `${limit}; exec ${line}`], cwd: home.path };
}

it.each([
  ['lazy', '--port 0', '--stdio'],
  ['eager', '--port 0', '--stdio'],
  ['eager', '--port 0', '--stdio --port 0'],
  ['lazy', '--stdio', '--stdio'],
  ['eager', '--stdio', '--stdio'],
])('a command that clears the environment starts no second round (%s, %s, %s)', async (begin, how, inner) => {
  const home = newHome();
  const again = { ...withoutEnvironment(home, ['serve', 'mcp.json', ...inner.split(' ')]), start: begin };
  home.write('mcp.json', { mcpServers: { weather: WEATHER, again } });
  const gateway = start(home, ['serve', 'mcp.json', '--open', ...how.split(' ')]);
  if (how === '--stdio') {
    const { body } = modern('tools/list');
    gateway.child.stdin!.write(`${JSON.stringify(body)}\n`);
    await gateway.says('weather__get_weather');
  } else expect(await tools(await gateway.url())).toContain('weather__get_weather');
  const depth = gatewaysBelow(gateway.child.pid!).length;
  expect(depth).toBeLessThan(3);
});

const FORGED = Array.from({ length: 7 }, (_, index) => `forged${index}`).join(',');

it.each(['2026-07-28', '2025-11-25'])('forged ids of one client harm no other, by URL (%s)', async (revision) => {
  const [outer, inner] = [newHome(), newHome()];
  const b = start(inner, [
    'serve',
    inner.write('b.json', { mcpServers: { weather: WEATHER } }),
    '--port',
    '0',
    '--open',
  ]);
  const file = outer.write('a.json', { mcpServers: { b: { url: await b.url(), revision } } });
  await expectUnharmed(await start(outer, ['serve', file, '--port', '0', '--open']).url());
});

it('forged ids of one client harm no other, by command', async () => {
  const [outer, inner] = [newHome(), newHome()];
  const file = inner.write('b.json', { mcpServers: { weather: WEATHER } });
  const { command, args, env } = inner.address(['serve', file, '--stdio']);
  const a = start(outer, [
    'serve',
    outer.write('a.json', { mcpServers: { b: { command, args, env } } }),
    '--port',
    '0',
    '--open',
  ]);
  await expectUnharmed(await a.url());
});

/** The very first request is forged, and more of them come beside those of others. */
async function expectUnharmed(url: string): Promise<void> {
  const request = modern('tools/list');
  const forged = () => send(url, { ...request, headers: { ...request.headers, 'parley-via': FORGED } });
  const first = forged();
  const beside = await Promise.all([tools(url), tools(url), forged(), tools(url)]);
  await first;
  for (const names of [beside[0], beside[1], beside[3], await tools(url)])
    expect(names.join()).toContain('get_weather');
  const [name] = (await tools(url)).filter((one) => one.endsWith('get_weather'));
  for (let round = 0; round < 3; round++) {
    const call = modern('tools/call', { name, arguments: { location: 'Oslo' } });
    const [, honest] = await Promise.all([
      send(url, { ...call, headers: { ...call.headers, 'parley-via': FORGED } }),
      ask(url, name!, { location: 'Oslo' }),
    ]);
    expect(honest).toContain('Oslo');
  }
}

/** Before a gateway: passes everything on but the header, and counts what it sees. */
async function strippingProxy(target: string): Promise<{ url: string; count: (words: string) => number }> {
  const seen: string[] = [];
  const proxy = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      seen.push(body.toString());
      const { 'parley-via': _, host: __, ...headers } = request.headers;
      const onward = httpRequest(new URL(request.url!, target), { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      onward.end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  proxies.push(proxy);
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, count: (words) => seen.filter((one) => one.includes(words)).length };
}

const proxies: HttpServer[] = [];
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close().closeAllConnections();
});

it.each([
  ['2026-07-28', {}],
  ['2025-11-25', { revision: '2025-11-25' }],
])('a request between two gateways ends though proxies drop the header (%s)', async (_, settings) => {
  const [one, two] = [newHome(), newHome()];
  const [onePort, twoPort] = [await freePort(), await freePort()];
  const toOne = await strippingProxy(`http://127.0.0.1:${onePort}`);
  const toTwo = await strippingProxy(`http://127.0.0.1:${twoPort}`);
  const first = { weather: WEATHER, two: { url: toTwo.url, ...settings } };
  const second = { forecast: WEATHER, one: { url: toOne.url, ...settings } };
  const a = start(one, ['serve', one.write('a.json', { mcpServers: first }), '--port', String(onePort), '--open']);
  const b = start(two, ['serve', two.write('b.json', { mcpServers: second }), '--port', String(twoPort), '--open']);
  const urls = [await a.url(), await b.url()];
  for (let round = 0; round < 2; round++) for (const url of urls) await tools(url);
  for (const url of urls) {
    const { json } = await send(url, modern('acme/round'));
    expect(json.error).toBeDefined();
  }
  expect(toOne.count('acme/round') + toTwo.count('acme/round')).toBeLessThan(8);
});
