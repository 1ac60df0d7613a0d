// The messages of the command line about other servers: who asks, who failed, and what to do.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT } from '../../helpers/files.ts';
import { Home } from '../../helpers/parley.ts';

const PEERS = join(ROOT, 'tests', 'peers');
const home = new Home();
afterAll(() => home[Symbol.dispose]());

const server = {
  command: process.execPath,
  args: [join(PEERS, 'borders', 'servers', 'named-v1.mjs')],
  env: { NAME: 'shop', TOOLS: 'buy' },
};

test("a question of the gateway is not said to be the server's", async () => {
  home.write('asking.json', { mcpServers: { shop: server }, steps: [{ approve: { when: 'always' } }] });
  const { stderr, status } = await home.run(['call', 'buy', '--config', 'asking.json'], 'n\n');
  expect(stderr).toMatch(/^parley: Only a person may answer this, and there is no terminal here/m);
  expect(stderr).not.toContain('shop asks');
  expect(status).toBe(1);
});

test('a step that throws is named, and not the server', async () => {
  home.write('boom.mjs', 'export default { name: "boom", methods: ["tools/call"], handle: () => nothing.here };');
  home.write('boom.json', { mcpServers: { shop: server }, steps: ['./boom.mjs'] });
  const { stderr, status } = await home.run(['call', 'buy', '--config', 'boom.json']);
  expect(stderr).toMatch(/^parley: step boom of the gateway failed\. The log of the gateway says why/m);
  expect(stderr).toContain('nothing is not defined');
  expect(status).toBe(1);
});

test('a form shows its defaults as it shows its choices', async () => {
  const everything = ['--', process.execPath, join(PEERS, 'node_modules', '.bin', 'mcp-server-everything'), 'stdio'];
  const { stderr } = await home.run(['call', 'trigger-elicitation-request', ...everything], 'Ann\n'.padEnd(40, '\n'));
  expect(stderr).toContain('Titled Single Select Enum (Choose your favorite hero) [Superman]: ');
  expect(stderr).toContain('y/n [none]: ');
});

test('a command that fails is started once', async () => {
  const program = home.write(
    'fails.cjs',
    "require('node:fs').appendFileSync('starts', 'once '); process.stderr.write('sorry\\n'); process.exit(3);",
  );
  const { stderr } = await home.run(['ls', 'tools', '--', process.execPath, program]);
  expect(stderr.match(/sorry/g)).toHaveLength(1);
  expect(stderr).toContain('exit code 3');
  expect(readFileSync(join(home.path, 'starts'), 'utf8')).toBe('once ');
});

test('a URL without a path gets a hint at the usual path', async () => {
  const http = createServer((_request, response) => void response.writeHead(404).end()).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => http.once('listening', resolve));
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const hint = `Most servers answer at /mcp: try ${url}/mcp.`;
    expect((await home.run(['ls', 'tools', url])).stderr).toContain(hint);
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } };
    expect((await home.run(['wrap', url], `${JSON.stringify(initialize)}\n`)).stdout).toContain(hint);
  } finally {
    http.closeAllConnections();
    http.close();
  }
});

test('an unreachable server is logged once, with the reason', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  home.write('away.json', { mcpServers: { shop: server, away: `http://127.0.0.1:${port}/mcp` } });
  await using gateway = home.start(['serve', 'away.json', '--port', '0', '--open']);
  const url = await gateway.url();
  for (let time = 0; time < 2; time++) expect((await home.run(['ls', 'tools', url])).stdout).toContain('shop__buy');
  await home.run(['status', url]);
  const lines = gateway.stderr.split('\n').filter((line) => line.includes('"server":"away"'));
  expect(lines).toEqual([expect.stringContaining('ECONNREFUSED')]);
});
