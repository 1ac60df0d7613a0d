// A call of a tool whose server is not available: clients of the official SDK learn which server it is and why, through all
// steps. Tools that a rule hides stay hidden.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions } from '../../../src/_entries/index.ts';
import { approve, defaults, filter, rename } from '../../../src/_entries/middleware.ts';
import { ROOT } from '../../helpers/files.ts';
import { until } from '../../helpers/until.ts';

const NAMED = join(ROOT, 'tests', 'peers', 'borders', 'servers', 'named-v1.mjs');
const up = { command: process.execPath, args: [NAMED], env: { NAME: 'up', TOOLS: 'search' } };
const dead = { command: 'no-such-command' };
const crashing = { command: process.execPath, args: ['-e', 'console.error("API_KEY is missing"); process.exit(3)'] };
const starting = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function serve(options: Partial<GatewayOptions>): Promise<string> {
  const servers = { up, dead, crashing, starting };
  const log = createLog({ level: 'silent' });
  const gateway = createGateway({ log, ask: { channels: [] }, servers, startMs: 2000, ...options });
  open.push(() => gateway.close());
  return (await gateway.listen({ port: 0 })).url;
}

type Call = (name: string) => Promise<string>;

async function v1(url: string): Promise<Call> {
  const client = new Client({ name: 'v1', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(() => client.close());
  return (name) => said(() => client.callTool({ name, arguments: {} }));
}

async function v2(url: string): Promise<Call> {
  const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new TransportV2(new URL(url)));
  open.push(() => client.close());
  return (name) => said(() => client.callTool({ name, arguments: {} }));
}

async function said(work: () => Promise<object>): Promise<string> {
  try {
    return JSON.stringify(await work());
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

const CLIENTS = [
  ['SDK v1', v1],
  ['SDK v2', v2],
] as const;

describe.each(CLIENTS)('%s', (_, connect) => {
  test.each<[string, Partial<GatewayOptions>]>([
    ['no steps', {}],
    ['names on collision', { names: 'on-collision' }],
    ['a filter', { steps: [filter({ deny: ['delete_*'] })] }],
    ['an approval', { steps: [approve({ when: 'destructive' })] }],
    ['other names and defaults', { steps: [rename({ tools: { up__search: 'find' } }), defaults({ '*': { a: 1 } })] }],
  ])('the server of a tool and why it is not up are told, with %s', async (_title, options) => {
    const call = await connect(await serve(options));
    expect(await call('dead__x')).toMatch(/Cannot reach dead \(no-such-command\): command not found/);
    // On a slow machine it is still starting for a while.
    const told = await until('the reason', async () => /exit code 3.*/s.exec(await call('crashing__x')));
    expect(told.input).toMatch(/crashing \(.+exit code 3; stderr: API_KEY is missing/s);
  });

  test('a server that does not start is named in the same words, whether a rule has to see its tools first or not', async () => {
    const servers = { up, starting: { server: starting, timeoutMs: 1000 } };
    const answers = [];
    for (const steps of [[], [filter({ deny: ['delete_*'] })]]) {
      const call = await connect(await serve({ servers, steps, startMs: 200 }));
      answers.push(await call('starting__x'));
    }
    expect(answers[0]).toMatch(/starting \(.+\) did not answer initialize within 1000 ms/s);
    expect(answers[1]).toBe(answers[0]);
  });

  test('a tool hidden by a filter stays unknown', async () => {
    const call = await connect(await serve({ steps: [filter({ deny: ['dead__*'] })] }));
    expect(await call('dead__x')).toMatch(/(Unknown tool: dead__x|Tool not found)$/);
  });

  test('the error for a bare name says that its server may be unavailable', async () => {
    const call = await connect(await serve({ names: 'on-collision', startMs: 200 }));
    const answer = await call('x');
    expect(answer).toContain('Unknown tool: x. It may belong to a server that is down:');
    expect(answer).toContain('Cannot reach dead (no-such-command): command not found');
    expect(answer).toContain('Cannot reach starting: it is still starting');
  });
});
