// A server that hangs is found out and started again; one that is only slow is left alone. Clients and servers of the official SDK v1.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { Opened, address, connectV1, gatewayTo } from './helpers/direct-and-through.ts';
import { until } from '../../helpers/until.ts';

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
  test('is started again when it hangs, and the calls that wait are told', async () => {
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

  test('goes on when it is only slow', async () => {
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
