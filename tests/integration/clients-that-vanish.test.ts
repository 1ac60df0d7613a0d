// Clients that go away, do not read, or come in numbers. What they leave behind must be bounded and must hurt nobody.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BOTH, openSocket, openStream, send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { socketWire, stdioWire } from '../helpers/line-wire.ts';
import { ask, modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { spawnStdio, startStorm } from '../helpers/server-process.ts';
import type { ServerProcess } from '../helpers/server-process.ts';
import { until, within } from '../helpers/until.ts';

const MiB = 1024 * 1024;
const LIMITS = { maxBufferedBytes: MiB, maxEventBytes: MiB };
/** Far more than may be buffered, far less than would hurt the machine. */
const FLOOD = { count: 3000, bytes: 64 * 1024 };

let server: ServerProcess;
beforeAll(async () => {
  server = await startStorm({ limits: LIMITS });
});
afterEach(async () => {
  expect(await ask(server.url, 'echo', { text: 'still here' })).toBe('still here');
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const state = (key: string) => ask(server.url, 'state', { key });
const running = (key: string) => until(`${key} to run`, async () => (await state(key)) === 'running');
const became = (key: string, wanted: string) =>
  until(`${key} to be ${wanted}`, async () => (await state(key)) === wanted);

/** Heap and buffers after a collection, in MiB. */
async function memory(): Promise<number> {
  const { heapUsed, arrayBuffers, external } = JSON.parse(await ask(server.url, 'memory')) as Record<string, number>;
  return (heapUsed! + Math.max(external!, arrayBuffers!)) / MiB;
}

function head(url: string, headers: Record<string, string>, body: Json): string {
  const text = JSON.stringify(body);
  const lines = Object.entries({ host: '127.0.0.1', accept: BOTH, 'content-type': 'application/json', ...headers });
  const shown = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `POST ${new URL(url).pathname} HTTP/1.1\r\n${shown}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

describe('a client that hangs up in the middle of a call', () => {
  it('in the handshake era leaves its call running', async () => {
    const session = await openSession(server.url);
    const socket = await openSocket(server.port);
    socket.write(head(server.url, session.headers, rpc('tools/call', { name: 'wait', arguments: { key: 'legacy' } })));
    await running('legacy');
    socket.resetAndDestroy();
    expect((await session.request('ping')).status).toBe(200);
    expect(await state('legacy')).toBe('running');
    await ask(server.url, 'release', { key: 'legacy' });
    await became('legacy', 'finished');
  });

  it.each(['reset', 'close'])('in the stateless era (%s) cancels its call', async (how) => {
    const socket = await openSocket(server.port);
    const key = `modern-${how}`;
    const { headers, body } = modern('tools/call', { name: 'wait', arguments: { key } });
    socket.write(head(server.url, headers, body));
    await running(key);
    if (how === 'reset') socket.resetAndDestroy();
    else socket.destroy();
    await became(key, 'cancelled');
  });

  it('in the middle of its body starts no call', async () => {
    for (let round = 0; round < 20; round++) {
      const socket = await openSocket(server.port);
      const { headers, body } = modern('tools/call', { name: 'wait', arguments: { key: 'half' } });
      socket.write(head(server.url, headers, body).slice(0, -5));
      socket.resetAndDestroy();
    }
    expect(await state('half')).toBe('unknown');
  });

  it('on a WebSocket cancels all its calls', async () => {
    const { wire, socket } = await socketWire(server.port);
    await wire.initialize();
    wire.write(rpc('tools/call', { name: 'wait', arguments: { key: 'ws' } }));
    await running('ws');
    socket.terminate();
    await became('ws', 'cancelled');
  });

  it('on its event stream of 2024-11-05 cancels all its calls', async () => {
    const stream = await openStream(server.url.replace('/mcp', '/sse'));
    await stream.until('the endpoint', ({ events }) => events.length > 0);
    const endpoint = new URL(stream.events[0]!.data!, server.url).href;
    await send(endpoint, { body: rpc('initialize', { protocolVersion: '2024-11-05' }) });
    await send(endpoint, { body: rpc('tools/call', { name: 'wait', arguments: { key: 'sse' } }) });
    await running('sse');
    stream.close();
    await became('sse', 'cancelled');
    expect((await send(endpoint, { body: rpc('ping') })).status).toBe(404);
  });

  it('killed on stdio: the server answers into the void and exits', async () => {
    const script = `
      const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, process.argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
      process.stdout.write(child.pid + '\\n');
      child.stdin.write(${JSON.stringify(`${JSON.stringify(rpc('initialize', { protocolVersion: '2025-11-25' }))}\n${JSON.stringify(rpc('tools/call', { name: 'flood', arguments: { key: 'k', count: 50, bytes: 10 }, _meta: { progressToken: 1 } }))}\n`)});
      child.stdout.once('data', () => process.stdout.write('ready\\n'));
    `;
    const storm = spawnStdio('storm');
    const args = storm.spawnargs.slice(1);
    storm.kill('SIGKILL');
    const client = spawn(process.execPath, ['-e', script, ...args]);
    let said = '';
    client.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    await until('the client to be served', () => said.includes('ready'));
    const pid = Number(said.split('\n')[0]);
    client.kill('SIGKILL');
    await until('the server to exit', () => !isAlive(pid));
  });
});

describe('a client that does not read', () => {
  it('its POST stream while a tool floods it is cut off, and memory stays bounded', async () => {
    const before = await memory();
    const session = await openSession(server.url);
    const sockets = [];
    for (const [key, era] of [
      ['flood-legacy', 'handshake'],
      ['flood-modern', 'stateless'],
    ] as const) {
      const socket = await openSocket(server.port);
      socket.pause();
      const params = { name: 'flood', arguments: { key, ...FLOOD } };
      const request =
        era === 'stateless'
          ? modern('tools/call', params, { progressToken: 1 })
          : { headers: session.headers, body: rpc('tools/call', { ...params, _meta: { progressToken: 1 } }) };
      socket.write(head(server.url, request.headers, request.body));
      sockets.push(socket);
    }
    await became('flood-legacy', 'finished'); // a handshake call goes on; what it says is dropped
    await became('flood-modern', 'cancelled');
    expect((await memory()) - before).toBeLessThan(60);
    for (const socket of sockets) socket.destroy();
  });

  it('its WebSocket is cut off', async () => {
    const { wire, socket } = await socketWire(server.port);
    await wire.initialize();
    socket.pause();
    wire.write(
      rpc('tools/call', { name: 'flood', arguments: { key: 'flood-ws', ...FLOOD }, _meta: { progressToken: 1 } }),
    );
    await became('flood-ws', 'cancelled');
    expect(server.complaints()).toContain('client.too-slow');
    socket.terminate();
  });

  it('its stdout is given up: the server exits', async () => {
    const child = spawnStdio('storm', ['--limits', JSON.stringify(LIMITS)]);
    const wire = stdioWire(child);
    await wire.initialize();
    child.stdout!.pause();
    child.stdout!.removeAllListeners('data');
    wire.write(rpc('tools/call', { name: 'flood', arguments: { key: 'k', ...FLOOD }, _meta: { progressToken: 1 } }));
    await within('the server to exit', once(child, 'exit'));
    expect(child.exitCode).toBe(1);
  });

  it('and whose session has no listener has a bounded queue', async () => {
    const before = await memory();
    const session = await openSession(server.url);
    const params = { name: 'flood', arguments: { key: 'flood-queue', ...FLOOD }, _meta: { progressToken: 1 } };
    await session.post(rpc('tools/call', params), { accept: 'application/json' });
    expect((await memory()) - before).toBeLessThan(60);
    await session.delete();
  });
});

describe('many clients', () => {
  it('a body that never ends holds up nobody', async () => {
    const sockets = await Promise.all(Array.from({ length: 50 }, () => openSocket(server.port)));
    for (const socket of sockets) {
      socket.write(
        'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
      );
    }
    for (let n = 0; n < 5; n++) {
      for (const socket of sockets) socket.write(' ');
      expect(await ask(server.url, 'echo', { text: 'on time' })).toBe('on time');
    }
    for (const socket of sockets) socket.destroy();
  });

  it('200 sessions at once are served each as its own, and 50 calls on one each once', async () => {
    const sessions = await Promise.all(Array.from({ length: 200 }, () => openSession(server.url)));
    expect(new Set(sessions.map(({ headers }) => headers['mcp-session-id'])).size).toBe(200);
    const texts = await Promise.all(
      sessions.map(async (session, n) => (await session.call('echo', { text: `${n}` })).json.result!.content![0]!.text),
    );
    expect(texts).toEqual(sessions.map((_, n) => `${n}`));
    const one = sessions[0]!;
    const calls = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        one.post(rpc('tools/call', { name: 'echo', arguments: { text: `${n}` } }, `n${n}`)),
      ),
    );
    expect(calls.map(({ json }) => [json.id, json.result!.content![0]!.text])).toEqual(
      calls.map((_, n) => [`n${n}`, `${n}`]),
    );
    const ended = await Promise.all(sessions.map((session) => session.delete()));
    expect(ended.every(({ status }) => status === 204)).toBe(true);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
