// Which processes of a server the clients of a gateway are served by, and what becomes of them.
import { describe, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import { bridge, REVISIONS } from '../helpers/bridge.ts';
import type { Pair } from '../helpers/bridge.ts';
import { connected, fixture, textOf, untilGone } from '../helpers/fixture-server.ts';
import { until } from '../helpers/until.ts';

const onElicit = () => ({ action: 'accept' as const, content: { city: 'Oslo' } });
const stdio = (client: string, server = '2025-11-25') => ({ client, server, upstream: 'stdio' }) as Pair;

describe.each(REVISIONS)('clients of %s in front of a handshake server on stdio', (revision) => {
  test('that cannot be asked share one process', async () => {
    await using between = await bridge(stdio(revision));
    const [one, other] = [await between.connect(), await between.connect()];
    expect(await textOf(one, 'pid')).toBe(await textOf(other, 'pid'));
  });

  test('that can be asked: one client, one process, for all it does one after the other', async () => {
    await using between = await bridge(stdio(revision));
    const client = await between.connect({ onElicit });
    const pid = await textOf(client, 'pid');
    expect(await textOf(client, 'ask')).toBe('accept Oslo');
    expect((await client.listTools()).length).toBeGreaterThan(10);
    expect(await textOf(client, 'pid')).toBe(pid);
    let told = 0;
    client.on('tools', () => void (told += 1));
    await until('word of the change', async () => {
      await client.callTool('toggle');
      return told > 0;
    });
  });
});

test.each([
  ['that call a tool that is known to ask', {}, { onElicit }],
  ['that cannot, where that is wished,', { share: 'session' }, {}],
] as const)('handshake clients %s have a process each, which ends with them', async (_, settings, options) => {
  await using between = await bridge(stdio('2025-11-25'), settings);
  const one = await between.connect(options);
  await using other = await between.connect(options);
  // The first call teaches that the tool asks; those after it move their clients.
  if ('onElicit' in options)
    for (const client of [one, one, other]) expect(await textOf(client, 'ask')).toBe('accept Oslo');
  const pids = [await textOf(one, 'pid'), await textOf(other, 'pid')];
  expect(new Set(pids).size).toBe(2);
  expect(await textOf(one, 'pid')).toBe(pids[0]);
  await one.close();
  await untilGone([Number(pids[0])]);
  expect(await textOf(other, 'pid')).toBe(pids[1]);
});

test('handshake clients that can be asked have a process each at a server that sends log messages, which name no call', async () => {
  await using between = await bridge(stdio('2025-11-25'));
  const [one, other] = [await between.connect({ onElicit }), await between.connect({ onElicit })];
  expect(await textOf(one, 'pid')).not.toBe(await textOf(other, 'pid'));
});

test('clients that can be asked share one process where that is wished, and are not asked', async () => {
  await using between = await bridge(stdio('2025-11-25'), { share: 'all' });
  const one = await between.connect({ onElicit, roots: [{ uri: 'file:///a' }] });
  await using other = await between.connect({ onElicit, roots: [{ uri: 'file:///b' }] });
  const pid = await textOf(one, 'pid');
  expect(await textOf(other, 'pid')).toBe(pid);
  expect(await one.callTool('ask')).toMatchObject({ isError: true });
  await one.close();
  expect(await textOf(other, 'pid')).toBe(pid);
});

test('calls of a stateless client that may ask run in processes of their own, and open questions hold up none', async () => {
  await using between = await bridge(stdio('2026-07-28'));
  const open: (() => void)[] = [];
  const client = await between.connect({
    onElicit: () => new Promise((resolve) => open.push(() => resolve(onElicit()))),
  });
  const calls = Array.from({ length: 10 }, () => textOf(client, 'ask'));
  await until('ten questions', () => open.length === 10);
  for (const answer of open.splice(0)) answer();
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 10 }, () => 'accept Oslo'));
});

test('a stateless server is one process for all, whatever they can be asked', async () => {
  await using between = await bridge(stdio('2025-11-25', '2026-07-28'));
  const clients = [await between.connect(), await between.connect({ onElicit }), await between.connect({ roots: [] })];
  const pids = await Promise.all(clients.map((client) => textOf(client, 'pid')));
  expect(new Set(pids).size).toBe(1);
});

test('many kinds of clients at once, before anything is known of the server, end up at one process', async () => {
  await using between = await bridge(stdio('2025-11-25', '2026-07-28'));
  const kinds = [{}, { onElicit }, { roots: [] }, { onElicit, roots: [] }, { revision: '2026-07-28', onElicit }];
  const pids = await Promise.all(kinds.map(async (kind) => textOf(await between.connect(kind), 'pid')));
  expect(new Set(pids).size).toBe(1);
});

describe.each(REVISIONS.flatMap((client) => REVISIONS.map((server) => ({ client, server }))))(
  'client $client, server $server: a server that dies',
  ({ client: revision, server }) => {
    test('is started again; subscriptions live on, and clients are told to look again', async () => {
      await using between = await bridge(stdio(revision, server));
      const client = await between.connect();
      const pid = await textOf(client, 'pid');
      const updated: string[] = [];
      await client.subscribe('note://a', (uri) => void updated.push(uri));
      let changed = 0;
      client.on('tools', () => void (changed += 1));
      await client.callTool('die').then(
        () => expect.unreachable('it died'),
        () => undefined,
      );
      await untilGone([Number(pid)]);
      // Nobody calls: that somebody is subscribed is enough.
      await until('word of what was missed', () => updated.length > 0);
      expect(await textOf(client, 'pid')).not.toBe(pid);
      const before = updated.length;
      await until('an update', async () => {
        await client.callTool('touch', { uri: 'note://a' });
        return updated.length > before;
      });
      expect(new Set(updated)).toEqual(new Set(['note://a']));
      expect(changed).toBeGreaterThan(0);
    });
  },
);

describe('a server that asks outside of any call', () => {
  const open = async () => {
    const gateway = createGateway({ servers: { early: fixture('asks-early') }, log: createLog({ level: 'silent' }) });
    const { url } = await gateway.listen({ port: 0, host: '127.0.0.1' });
    return { url, [Symbol.asyncDispose]: () => gateway.close() };
  };

  test('reaches the handshake client it was started for, and hears of its changes', async () => {
    await using gateway = await open();
    await using client = await connected(gateway.url, { revision: '2025-11-25', roots: [{ uri: 'file:///one' }] });
    await using other = await connected(gateway.url, { revision: '2025-11-25', roots: [{ uri: 'file:///two' }] });
    await until('the roots', async () => (await textOf(client, 'roots')) === 'file:///one');
    await until('the roots of the other', async () => (await textOf(other, 'roots')) === 'file:///two');
    await client.setRoots([{ uri: 'file:///moved' }]);
    await until('the new roots', async () => (await textOf(client, 'roots')) === 'file:///moved');
    expect(await textOf(other, 'roots')).toBe('file:///two');
  });

  test('gets the roots with the next call of a client whose era knows no such questions', async () => {
    await using gateway = await open();
    await using client = await connected(gateway.url, { revision: '2026-07-28', roots: [{ uri: 'file:///one' }] });
    await until('the roots', async () => (await textOf(client, 'roots')) === 'file:///one');
  });
});
