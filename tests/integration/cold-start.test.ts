// Clients of a gateway whose servers are still starting: a call waits for its server, whatever has to judge it first.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { connect, createGateway, createLog, createServer } from '../../src/_entries/index.ts';
import type { Client, GatewayOptions } from '../../src/_entries/index.ts';
import { approve, defaults, discover, filter, rename } from '../../src/_entries/middleware.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until } from '../helpers/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-cold-'));
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});
afterAll(() => removeFolder(folder));

let servers = 0;

/** A server that answers nothing before `release`, and has the tools `read` and `drop`. */
function gated() {
  const name = join(folder, `gate-${++servers}`);
  const files = { begun: `${name}-begun`, gate: `${name}-open` };
  const program = `
    const { existsSync, writeFileSync } = require('node:fs');
    const reply = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
    const tool = (name, annotations) => ({ name, annotations, inputSchema: { type: 'object' } });
    const answers = {
      initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'gated', version: '1' } }),
      'tools/list': () => ({ tools: [tool('read', { readOnlyHint: true }), tool('drop', { destructiveHint: true })] }),
      'tools/call': ({ name }) => ({ content: [{ type: 'text', text: 'called ' + name }] }),
    };
    const answer = ({ id, method, params }) => id !== undefined && reply(id, answers[method]?.(params) ?? {});
    const waiting = [];
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      if (existsSync(${JSON.stringify(files.gate)})) answer(JSON.parse(line));
      else waiting.push(JSON.parse(line));
    });
    writeFileSync(${JSON.stringify(files.begun)}, '');
    const look = setInterval(() => {
      if (!existsSync(${JSON.stringify(files.gate)})) return;
      clearInterval(look);
      for (const message of waiting.splice(0)) answer(message);
    }, 20);`;
  return {
    entry: { command: process.execPath, args: ['-e', program] },
    hasBegun: () => until('the server to have been started', () => existsSync(files.begun)),
    release: () => writeFileSync(files.gate, ''),
  };
}

const log = createLog({ level: 'silent' });

async function serve(options: Partial<GatewayOptions> & Pick<GatewayOptions, 'servers'>): Promise<string> {
  const gateway = createGateway({ log, ask: { channels: [] }, startMs: 100, ...options });
  open.push(() => gateway.close());
  return (await gateway.listen({ port: 0 })).url;
}

async function joinGateway(url: string, revision: string): Promise<Client> {
  const client = await connect(url, { log, revision });
  open.push(() => client.close());
  return client;
}

function ready() {
  const server = createServer({ name: 'ready', version: '1', log });
  server.tool('look', { annotations: { readOnlyHint: true } }, () => 'seen');
  return server;
}

/** How a call has ended, or `waits`. */
function follow(call: ReturnType<Client['callTool']>) {
  const followed = {
    state: 'waits',
    ended: call.then(
      () => {},
      () => {},
    ),
  };
  call.then(
    ({ content, isError }) =>
      (followed.state = `${isError === true ? 'error: ' : ''}${(content[0] as { text: string }).text}`),
    (thrown: Error) => (followed.state = thrown.message),
  );
  return followed;
}

describe.each(['2025-11-25', '2026-07-28'])(
  'a call of a tool whose server is starting, of a client of %s',
  (revision) => {
    test.each<[string, Partial<GatewayOptions>, string?]>([
      ['no rule', {}],
      ['a filter', { steps: [filter({ deny: ['other__*'] })] }],
      ['an approval of what is destructive', { steps: [approve({ when: 'destructive' })] }],
      ['other names', { steps: [filter({ deny: ['x'] }), rename({ tools: { ready__look: 'watch' } })] }],
      ['arguments that are set', { steps: [defaults({ '*': { a: 1 } })] }],
      ['rules', { rules: [{ tool: 'drop', effect: 'deny' }] }],
    ])('waits for it, and then runs, with %s', async (_, options) => {
      const slow = gated();
      const client = await joinGateway(
        await serve({ servers: { slow: slow.entry, ready: ready() }, ...options }),
        revision,
      );
      await client.listTools();
      const called = follow(client.callTool('slow__read'));
      await client.listTools(); // longer than clients wait for lists
      await client.listTools();
      expect(called.state).toBe('waits');
      slow.release();
      await called.ended;
      expect(called.state).toBe('called read');
    });

    test('waits for it, and is then refused by what the rules make of its list', async () => {
      const slow = gated();
      const servers = { slow: { server: slow.entry, tools: { deny: ['drop'] } }, ready: ready() };
      const client = await joinGateway(await serve({ servers }), revision);
      const calls = ['slow__drop', 'slow__nothing', 'slow__read'].map((name) => follow(client.callTool(name)));
      await client.listTools();
      expect(calls.map(({ state }) => state)).toEqual(['waits', 'waits', 'waits']);
      slow.release();
      await Promise.all(calls.map(({ ended }) => ended));
      expect(calls.map(({ state }) => state)).toEqual([
        'Unknown tool: slow__drop',
        'Unknown tool: slow__nothing',
        'called read',
      ]);
    });

    test('waits for it by way of call_tool, too', async () => {
      const slow = gated();
      const steps = [discover({ mode: 'search' }), filter({ deny: ['other__*'] })];
      const client = await joinGateway(await serve({ servers: { slow: slow.entry, ready: ready() }, steps }), revision);
      const called = follow(client.callTool('call_tool', { name: 'slow__read' }));
      await client.listTools();
      expect(called.state).toBe('waits');
      slow.release();
      await called.ended;
      expect(called.state).toBe('called read');
    });

    test('ends at once when it is cancelled, and the next call runs', async () => {
      const slow = gated();
      const steps = [filter({ deny: ['other__*'] })];
      const client = await joinGateway(await serve({ servers: { slow: slow.entry, ready: ready() }, steps }), revision);
      const stop = new AbortController();
      const called = follow(client.callTool('slow__read', {}, { signal: stop.signal }));
      await client.listTools();
      stop.abort();
      await called.ended;
      const next = follow(client.callTool('slow__read'));
      slow.release();
      await next.ended;
      expect([called.state === 'called read', next.state]).toEqual([false, 'called read']);
    });
  },
);
