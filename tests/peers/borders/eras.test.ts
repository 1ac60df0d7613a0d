// A server of both eras behind the gateway serves each client in the client's own era, so nothing is translated.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { ServerEntry, ServerSettings } from '../../../src/_entries/index.ts';
import { startHttp } from '../../helpers/fixture-server.ts';
import { until } from '../../helpers/until.ts';
import { ASKABLE, connectAskable } from './helpers/askable-clients.ts';
import { connectSdk } from './helpers/sdk-clients.ts';

const BOTH = fileURLToPath(new URL('servers/both-eras-v2.mjs', import.meta.url));

/** A gateway before the server on stdio, or on HTTP. */
async function start(over: 'stdio' | 'HTTP' = 'stdio', settings: ServerSettings = {}) {
  const command = { command: process.execPath, args: [BOTH] };
  const http = over === 'HTTP' ? await startHttp({ ...command, args: [BOTH, '--port', '0'] }) : undefined;
  const both: ServerEntry = { server: http?.url ?? command, ...settings };
  const gateway = createGateway({ servers: { both }, log: createLog({ level: 'silent' }), startMs: 60_000 });
  const { url } = await gateway.listen({ port: 0 });
  return {
    url,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await http?.stop();
    },
  };
}

describe.each(['stdio', 'HTTP'] as const)('a server with both eras on %s', (over) => {
  test('is spoken to in the era of each client, in whatever order they connect', async () => {
    for (const order of [['SDK v1', 'SDK v2, 2026-07-28'] as const, ['SDK v2, 2026-07-28', 'SDK v1'] as const]) {
      await using gateway = await start(over);
      for (const kind of order) {
        await using client = await connectSdk(kind, gateway.url);
        expect(await client.call('revision')).toBe(kind === 'SDK v1' ? '2025-11-25' : '2026-07-28');
      }
    }
  });

  test.each(ASKABLE)('asks a handshake client as it does directly: %s', async (kind) => {
    await using gateway = await start(over);
    await using client = await connectAskable(kind, gateway.url);
    expect(await client.call('elicit')).toBe('Oslo');
    expect(await client.call('sample')).toBe('said');
    expect(await client.call('sample_with_tools')).toBe('endTurn');
    expect(await client.call('roots')).toBe('file:///here');
    expect(await client.call('link')).toBe('accept');
    expect(await client.call('ask_in_rounds')).toBe('Oslo');
    expect(await client.call('ping')).toBe('{}');
    await expect(client.call('link_first')).rejects.toMatchObject({ code: -32042 });
    await expect(client.client.readResource({ uri: 'note://none' })).rejects.toMatchObject({ code: -32602 });
  });

  test('receives the notifications of a handshake client', async () => {
    await using gateway = await start(over);
    await using client = await connectAskable('SDK v1', gateway.url);
    if (!('sendRootsListChanged' in client.client)) throw new Error('not a client of SDK v1');
    await client.call('pid');
    await client.client.sendRootsListChanged();
    await client.client.notification({ method: 'custom/hello', params: {} });
    await client.client.subscribeResource({ uri: 'note://one' });
    await client.client.unsubscribeResource({ uri: 'note://one' });
    const all = ['roots changed', 'hello', 'subscribe note://one', 'unsubscribe note://one'];
    await until('all to be heard', async () => {
      const heard = JSON.parse(await client.call('heard')) as string[];
      return all.every((one) => heard.includes(one));
    });
  });

  test('asks a stateless client by input_required', async () => {
    await using gateway = await start(over);
    await using client = await connectAskable('SDK v2, 2026-07-28', gateway.url);
    expect(await client.call('ask_in_rounds')).toBe('Oslo');
    expect(await client.call('revision')).toBe('2026-07-28');
  });

  test('is spoken to in one era where that is configured', async () => {
    await using gateway = await start(over, { era: 'handshake' });
    await using client = await connectAskable('SDK v2, 2026-07-28', gateway.url);
    expect(await client.call('revision')).toBe('2025-11-25');
    expect(await client.call('elicit')).toBe('Oslo');
  });
});

test('log messages after the answer reach a handshake client', async () => {
  await using gateway = await start();
  await using client = await connectAskable('SDK v1', gateway.url);
  expect(await client.call('late_log')).toBe('soon');
  await until('the message', () => client.heard.includes('notifications/message'));
});

test('each era has one process, however many clients connect', async () => {
  await using gateway = await start();
  const pids = new Set<string>();
  for (const kind of ['SDK v1', 'SDK v2, 2026-07-28', 'SDK v1', 'SDK v2, 2026-07-28'] as const) {
    await using client = await connectSdk(kind, gateway.url);
    pids.add(await client.call('pid'));
  }
  expect(pids.size).toBe(2);
});
