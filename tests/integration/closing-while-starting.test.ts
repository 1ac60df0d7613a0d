// A gateway that is closed while a server hangs at its start does not wait for it: it is given up and, where it is a process,
// asked to leave like any other.
import { existsSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import type { Address } from 'mcp-parley';
import { childrenOfThis } from '../helpers/fixture-server.ts';
import { stdioWire } from '../helpers/line-wire.ts';
import { rpc } from '../helpers/mcp-http.ts';
import { Home } from '../helpers/parley.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until, within } from '../helpers/until.ts';

/** Longer than any test waits. */
const FOREVER_MS = 1_000_000;
const folder = mkdtempSync(join(tmpdir(), 'parley-hangs-'));
const before = new Set(childrenOfThis());

afterEach(() => until('every child process to be gone', () => childrenOfThis().every((pid) => before.has(pid))));
afterAll(() => removeFolder(folder));

/** Never answers; leaves one file when it is up and another when it was asked to leave. */
function hanging(name: string) {
  const files = { up: join(folder, `${name}-up`), left: join(folder, `${name}-left`) };
  const program = `
    const { writeFileSync } = require('node:fs');
    process.stdin.resume().on('end', () => { writeFileSync(${JSON.stringify(files.left)}, ''); process.exit(); });
    setInterval(() => {}, 1e6);
    writeFileSync(${JSON.stringify(files.up)}, '');`;
  const isUp = () => until('the server to be up', () => existsSync(files.up));
  return {
    command: process.execPath,
    args: ['-e', program],
    up: files.up,
    isUp,
    wasAsked: () => existsSync(files.left),
  };
}

/** Accepts connections, and says nothing. */
async function silent() {
  let met = (): void => {};
  const isMet = new Promise<void>((resolve) => (met = resolve));
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).resume());
    met();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port, isMet, [Symbol.dispose]: stop };
}

/** Opens it for a call and closes the gateway as soon as the server has been reached. */
async function closeWhileStarting(server: Address, isReached: () => Promise<unknown>): Promise<void> {
  const gateway = createGateway({
    servers: { hangs: { server, timeoutMs: FOREVER_MS, start: 'eager' } },
    log: createLog({ level: 'silent' }),
    startMs: FOREVER_MS,
  });
  const { url } = await gateway.listen({ port: 0 });
  const body = JSON.stringify(rpc('initialize', { protocolVersion: '2025-11-25' }));
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const client = fetch(url, { method: 'POST', headers, body }).catch(() => 'cut off');
  await isReached();
  await within('the gateway to close', gateway.close());
  await within('its client to be told', client);
}

describe('a gateway that is closed', () => {
  test('gives up a process that hangs at its start, and asks it to leave', async () => {
    const server = hanging('library');
    await closeWhileStarting({ command: server.command, args: server.args }, server.isUp);
    expect(server.wasAsked()).toBe(true);
  });

  test.each([
    ['HTTP', 'http', undefined],
    ['HTTP+SSE', 'http', 'http+sse'],
    ['WebSocket', 'ws', undefined],
  ] as const)('gives up a server that is silent over %s', async (_, scheme, transport) => {
    using server = await silent();
    await closeWhileStarting({ url: `${scheme}://127.0.0.1:${server.port}/mcp`, transport }, () => server.isMet);
  });
});

describe('a command that is asked to end while its server hangs at its start', () => {
  test('wrap ends it, too', async () => {
    using home = new Home();
    const server = hanging('wrap');
    await using parley = home.start(['wrap', '--', server.command, ...server.args]);
    stdioWire(parley.child).write(rpc('initialize', { protocolVersion: '2025-06-18' }));
    await server.isUp();
    expect(await parley.stop('SIGTERM')).toBe(0);
    expect(parley.stderr).toBe('');
    expect(server.wasAsked()).toBe(true);
  });

  test('wrap, because its port is taken, which is all that is told', async () => {
    using home = new Home();
    using taken = await silent();
    const port = String(taken.port);
    const { command, args } = hanging('taken port');
    const { status, stderr } = await home.run(['wrap', '--port', port, '--', command, ...args]);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^parley: port ${port} on 127\\.0\\.0\\.1 is taken by node, process \\d+\\.[^\\n]+\\n$`),
    );
  });

  test('serve ends it, too', async () => {
    using home = new Home();
    const server = hanging('serve');
    const { command, args } = server;
    home.write('mcp.json', { mcpServers: { hangs: { command, args, start: 'eager' } } });
    await using parley = home.start(['serve', 'mcp.json', '--port', '0']);
    await server.isUp();
    await parley.url();
    expect(await parley.stop('SIGTERM')).toBe(0);
    expect(server.wasAsked()).toBe(true);
  });

  test.each(['its client', 'a signal'])('serve on stdio, by %s', async (by) => {
    using home = new Home();
    const server = hanging(`serve by ${by}`);
    const { command, args } = server;
    home.write('mcp.json', { mcpServers: { hangs: { command, args } } });
    await using parley = home.start(['serve', 'mcp.json', '--stdio']);
    stdioWire(parley.child).write(rpc('initialize', { protocolVersion: '2025-06-18' }));
    await server.isUp();
    if (by === 'a signal') parley.child.kill();
    else parley.child.stdin!.end();
    expect(await parley.ended()).toBe(0);
    expect(server.wasAsked()).toBe(true);
  });

  test('serve, because a step cannot be loaded', async () => {
    using home = new Home();
    const server = hanging('bad step');
    const { command, args } = server;
    const step = home.write(
      'step.mjs',
      `while (!require('fs').existsSync(${JSON.stringify(server.up)}));\nthrow Error('no')`,
    );
    home.write('mcp.json', { mcpServers: { hangs: { command, args, start: 'eager' } }, steps: [step] });
    const { status, stderr } = await home.run(['serve', 'mcp.json', '--port', '0']);
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('step.mjs') });
    expect(server.wasAsked()).toBe(true);
  });
});
