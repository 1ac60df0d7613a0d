// FrontMCPServer → MiddlewareMCPServer → ExternalMCPServer, put together by hand before a server that is a real process.
import { ExternalMCPServer, FrontMCPServer, MiddlewareMCPServer, createLog, createServer } from 'mcp-parley';
import type { Client, ConnectOptions, StepFunction } from 'mcp-parley';
import { rename } from 'mcp-parley/middleware';
import { testServer } from 'mcp-parley/testing';
import { describe, expect, test } from 'vitest';
import { childrenOfThis, connected, fixture, textOf, untilGone } from '../helpers/fixture-server.ts';
import { within } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const bridged = fixture('bridged', ['--stdio']);

/** Notes which requests it sees, as plain objects. */
function noting(notes: string[], name: string): StepFunction {
  return (exchange, next) => {
    notes.push(`${name} ${exchange.method} ${JSON.stringify(exchange.params)}`);
    return next();
  };
}

async function answering(front: FrontMCPServer, options: ConnectOptions = {}): Promise<Client> {
  const { url } = await front.listen({ port: 0, host: '127.0.0.1' });
  return connected(url, options);
}

describe.each(['2024-11-05', '2025-03-26', '2025-11-25', '2026-07-28'])('a client of %s', (revision) => {
  test('sees what the steps make of the server at the end', async () => {
    const before = childrenOfThis();
    const notes: string[] = [];
    const external = new ExternalMCPServer(bridged, { log });
    const inner = new MiddlewareMCPServer(external, [noting(notes, 'inner')], { log });
    const outer = new MiddlewareMCPServer(inner, [noting(notes, 'outer'), rename({ tools: { echo: 'say' } })], { log });
    const front = new FrontMCPServer(outer, { log });
    const client = await answering(front, { revision });

    expect(client.server.info.name).toBe('bridged');
    expect((await client.listTools()).map(({ name }) => name)).toContain('say');
    notes.length = 0;
    expect(await textOf(client, 'say', { text: 'hello' })).toBe('hello');
    expect(notes).toEqual([
      'outer tools/call {"name":"say","arguments":{"text":"hello"}}',
      'inner tools/call {"name":"echo","arguments":{"text":"hello"}}',
    ]);

    const started = childrenOfThis().filter((pid) => !before.includes(pid));
    expect(started.length).toBeGreaterThan(0);
    await client.close();
    await within('the front to close', front.close());
    await untilGone(started.map(Number));
  });
});

test('questions of the server travel up the same chain', async () => {
  const seen: string[] = [];
  const watching: StepFunction = (exchange, next) => {
    exchange.intercept({
      ask(ask, pass) {
        seen.push(ask.method);
        return pass(ask);
      },
    });
    return next();
  };
  const external = new ExternalMCPServer(bridged, { log });
  const front = new FrontMCPServer(new MiddlewareMCPServer(external, [watching], { log }), { log });
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const onElicit: ConnectOptions['onElicit'] = () => ({ action: 'accept', content: { city: 'Oslo' } });
    const client = await answering(front, { revision, onElicit });
    expect(await textOf(client, 'ask')).toBe('accept Oslo');
    await client.close();
  }
  expect(seen).toEqual(['elicitation/create', 'elicitation/create']);
  await within('the front to close', front.close());
});

test('the parts stand also before a server of this process, and without the one between', async () => {
  const server = createServer({ name: 'near', version: '1.0.0' });
  server.tool('hi', {}, () => 'Hi');
  for (const behind of [server, new MiddlewareMCPServer(server, [])]) {
    const front = new FrontMCPServer(behind);
    await using tested = await testServer(front);
    expect(tested.client.server.info.name).toBe('near');
    expect(await textOf(tested.client, 'hi')).toBe('Hi');
    await front.close();
  }
});

test('what the server refuses is refused with the error of the client’s revision', async () => {
  const front = new FrontMCPServer(new ExternalMCPServer(bridged, { log }), { log });
  const client = await answering(front, { revision: '2025-03-26' });
  await expect(client.callTool('nothing')).rejects.toMatchObject({ code: -32001 });
  await client.close();
  await front.close();
});
