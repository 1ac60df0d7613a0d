// A server that hangs is detected and restarted; a slow one is left alone. Clients and servers use the official SDK v1.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { Opened, address, connectV1, gatewayTo } from './helpers/direct-and-through.ts';
import { ROOT } from '../../helpers/files.ts';
import { freePort } from '../../helpers/server-process.ts';
import { until } from '../../helpers/until.ts';

const EVERYTHING = join(ROOT, 'tests', 'peers', 'node_modules', '@modelcontextprotocol', 'server-everything');

const call = async (client: Client, name: string, args = {}): Promise<any> => {
  const result: any = await client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 });
  return { text: result.content[0].text, isError: result.isError };
};
const failed = (client: Client, name: string, args = {}): Promise<Error> =>
  call(client, name, args).then(
    ({ text }) => new Error(text),
    (error) => error,
  );

/** However long the process takes to start. */
const pidOf = (client: Client): Promise<string> =>
  until('an answer', async () => {
    const { text, isError } = await call(client, 'pid').catch(() => ({ text: '', isError: true }));
    return !isError && text;
  });

/** `timeoutMs` is short, and the limits are as given. */
async function connect(opened: Opened, timeoutMs: number, limits: object, transport: 'stdio' | 'http' = 'stdio') {
  const at = await address(opened, 'moody-v1', transport);
  const server = { server: at, timeoutMs };
  return gatewayTo(opened, { moody: server }, 'http', { limits });
}

describe.each([
  ['that clients share', {}],
  ['that a client has to itself', { elicitation: {} }],
])('a server %s', (_, capabilities) => {
  test('a server that hangs is restarted, and its pending calls fail', async () => {
    await using opened = new Opened();
    const to = await connect(opened, 3000, { pingMs: 1500 });
    const { client } = await connectV1(opened, to(), capabilities);
    const before = await pidOf(client);
    const frozen = failed(client, 'freeze');
    expect((await frozen).message).toMatch(/did not answer tools\/call within 3000 ms/);
    const waiting = failed(client, 'pid'); // at the server that hangs
    expect((await waiting).message).toMatch(/it hangs: no answer to a ping within 1500 ms/);
    expect(await pidOf(client)).not.toBe(before);
    await until('the end of the hung process', () => !isRunning(Number(before)));
  });

  test('a slow server keeps running', async () => {
    await using opened = new Opened();
    const to = await connect(opened, 2000, { pingMs: 60_000 });
    const { client } = await connectV1(opened, to(), capabilities);
    const before = await pidOf(client);
    for (let round = 0; round < 2; round++) {
      expect((await failed(client, 'never')).message).toMatch(/did not answer tools\/call within 2000 ms/);
    }
    expect(await pidOf(client)).toBe(before);
  });
});

test('an open question holds the call that asked, and no other', async () => {
  await using opened = new Opened();
  const to = await connect(opened, 2000, {}, 'http');
  let answer = (): void => {};
  const { client } = await connectV1(opened, to(), { elicitation: {} }, (one) =>
    one.setRequestHandler(types.ElicitRequestSchema, async () => {
      await new Promise<void>((resolve) => (answer = resolve));
      return { action: 'accept', content: { city: 'Oslo' } };
    }),
  );
  await pidOf(client);
  const asking = call(client, 'ask');
  expect((await failed(client, 'never')).message).toMatch(/did not answer tools\/call within 2000 ms/);
  answer();
  expect(JSON.parse((await asking).text)).toMatchObject({ content: { city: 'Oslo' } });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a call fails long before its timeout when its HTTP server has died', async () => {
  await using opened = new Opened();
  const program = join(EVERYTHING, 'dist', 'index.js');
  const port = await freePort();
  const server = spawn(process.execPath, [program, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  opened.add(server, (one) => one.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}/mcp`;
  await until('the server', () => fetch(url).then(Boolean, () => false));
  const to = await gatewayTo(opened, { everything: { server: { url }, timeoutMs: 100_000 } }, 'http');
  const { client } = await connectV1(opened, to(), {});
  let called!: Promise<Error>;
  const isRunning = new Promise<void>((resolve) => {
    const params = { name: 'trigger-long-running-operation', arguments: { duration: 300, steps: 3000 } };
    called = client.callTool(params, undefined, { timeout: 120_000, onprogress: () => resolve() }).then(
      ({ content }: any) => new Error(content[0].text),
      (error) => error,
    );
  });
  await isRunning;
  await new Promise((resolve) => server.once('exit', resolve).kill('SIGKILL'));
  expect((await called).message).toMatch(/ECONNREFUSED|closed/);
});
