// The cost of clients that can be asked: processes, and waiting time of other clients. Uses real clients and servers.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions, ServerEntry } from '../../../src/_entries/index.ts';
import { systemClock } from '../../../src/kernel/base/clock.ts';
import type { Clock } from '../../../src/kernel/base/clock.ts';
import { Home } from '../../helpers/parley.ts';
import { until } from '../../helpers/until.ts';
import { connectAskable } from './helpers/askable-clients.ts';
import { connectSdk } from './helpers/sdk-clients.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const ASKS = path('servers/asks-v1.mjs');
const BOTH = path('servers/both-eras-v2.mjs');
const npm = (name: string) => path(`../node_modules/@modelcontextprotocol/${name}/dist/index.js`);
const node = (...args: string[]) => ({ command: process.execPath, args });
/** Long enough that no test depends on it. */
const NEVER = 3_600_000;

async function start(servers: Record<string, ServerEntry>, options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({ servers, log: createLog({ level: 'silent' }), startMs: 60_000, ...options });
  const { url } = await gateway.listen({ port: 0 });
  return { url, gateway, [Symbol.asyncDispose]: () => gateway.close() };
}

/** The processes that the gateway has started; those of vitest run no `.mjs` or `index.js` of a server. */
function children(): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  const servers = stdout.split('\n').filter((line) => /borders\/servers|modelcontextprotocol\/server-/.test(line));
  return servers.map((line) => Number(line.trim().split(' ')[0]));
}

describe('five clients in a row that can be asked, and seven servers', () => {
  test('leave at most nine processes behind', async () => {
    const servers = {
      everything: node(npm('server-everything'), 'stdio'),
      files: node(npm('server-filesystem'), path('servers')),
      memory: node(npm('server-memory')),
      thinking: node(npm('server-sequential-thinking')),
      asks: node(ASKS),
      early: node(ASKS, '--asks-at-start'),
      both: node(BOTH),
    };
    await using gateway = await start(servers, { limits: { ownIdleMs: 2000 } });
    let most = 0;
    for (let visit = 0; visit < 5; visit++) {
      const client = await connectAskable('SDK v1', gateway.url);
      expect((await client.list()).length).toBeGreaterThan(30);
      expect(await client.call('asks__elicit')).toBe('Oslo');
      most = Math.max(most, children().length);
      await client.client.close(); // without a word to the gateway
    }
    expect(most).toBeLessThanOrEqual(7 + 2 * 5);
    await until('the own processes to end', () => children().length <= 9);
    await using late = await connectAskable('SDK v1', gateway.url);
    const before = children().length;
    expect((await late.list()).length).toBeGreaterThan(30);
    expect(children().length).toBeLessThanOrEqual(before + 1);
  });
});

describe('clients that can be asked', () => {
  test('share one process, and have one of their own from their first call of a tool that is known to ask', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { ownIdleMs: NEVER } });
    await using first = await connectAskable('SDK v1', gateway.url);
    await first.list();
    await using second = await connectAskable('SDK v1', gateway.url);
    await using third = await connectAskable('SDK v2, handshake', gateway.url);
    for (const client of [second, third]) expect(await client.list()).toContain('elicit');
    expect(children()).toHaveLength(1);
    const shared = await first.call('pid');
    expect([await second.call('pid'), await third.call('pid')]).toEqual([shared, shared]);
    expect(await second.call('elicit')).toBe('Oslo'); // it is not known to ask, and its question can be of no other call
    expect(await second.call('pid')).toBe(shared);
    expect(await second.call('elicit')).toBe('Oslo');
    const moved = await second.call('pid');
    expect(moved).not.toBe(shared);
    expect(await third.call('pid')).toBe(shared);
    expect(await third.call('elicit')).toBe('Oslo');
    expect(new Set([shared, moved, await third.call('pid'), await first.call('pid')]).size).toBe(3);
    expect(await second.call('pid')).toBe(moved);
    expect(third.asked).toEqual(['elicitation']);
  });

  test('get no question of another, however many call the same tool at once before it is known to ask', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { ownIdleMs: NEVER } });
    const clients = await Promise.all(Array.from({ length: 6 }, () => connectAskable('SDK v1', gateway.url)));
    await Promise.all(clients.map((client) => client.list()));
    const first = await Promise.all(clients.map((client) => client.call('elicit')));
    for (const [index, result] of first.entries()) {
      expect(clients[index].asked.filter((one) => one !== 'roots')).toHaveLength(result === 'Oslo' ? 1 : 0);
    }
    expect(await Promise.all(clients.map((client) => client.call('elicit')))).toEqual(clients.map(() => 'Oslo'));
    expect(new Set(await Promise.all(clients.map((client) => client.call('pid')))).size).toBe(6);
    await Promise.all(clients.map(({ client }) => client.close()));
  });

  test('with roots share a server that does not ask for them, also when they call a gateway that knows nothing yet', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { ownIdleMs: NEVER } });
    const clients = await Promise.all(Array.from({ length: 5 }, () => connectAskable('SDK v1', gateway.url)));
    const pids = await Promise.all(clients.map((client) => client.call('pid')));
    expect(new Set(pids).size).toBeLessThanOrEqual(2);
    await Promise.all(clients.map(({ client }) => client.close()));
  });

  test('hear of changed lists from their own process', async () => {
    await using gateway = await start({ asks: node(ASKS) });
    await using first = await connectAskable('SDK v1', gateway.url);
    await using second = await connectAskable('SDK v1', gateway.url);
    await Promise.all([first.list(), second.list()]);
    for (let times = 0; times < 2; times++) await second.call('elicit'); // known to ask from then on
    expect(await second.call('grow')).toBe('grown');
    await until('word of the change', () => second.heard.includes('notifications/tools/list_changed'));
    expect(await second.list()).toContain('grown-6');
    expect(await first.list()).not.toContain('grown-6');
  });

  test('one alone needs one process, also for a server that asks at once', async () => {
    await using gateway = await start({ early: node(ASKS, '--asks-at-start') });
    await using client = await connectAskable('SDK v1', gateway.url);
    await client.list();
    await until('the roots', async () => (await client.call('roots_at_start')) === 'file:///here');
    expect(children()).toHaveLength(1);
  });

  test('a server that asks at once gets the roots of each', async () => {
    await using gateway = await start({ early: node(ASKS, '--asks-at-start') });
    for (const kind of ['SDK v1', 'SDK v2, handshake', 'SDK v1'] as const) {
      await using client = await connectAskable(kind, gateway.url);
      await client.list();
      await until('the roots', async () => (await client.call('roots_at_start')) === 'file:///here');
    }
  });

  test('a server that asks at once gets the roots of a client that is asked only during calls', async () => {
    await using gateway = await start({ early: node(ASKS, '--asks-at-start') });
    await using client = await connectAskable('SDK v2, 2026-07-28', gateway.url);
    await client.list();
    await until('the roots', async () => (await client.call('roots_at_start')) === 'file:///here');
    expect(client.asked).toEqual(['roots']);
  });

  test('lose their own process a while after they are gone, and have a new one when they come back', async () => {
    await using gateway = await start({ asks: node(ASKS), other: node(ASKS) }, { limits: { ownIdleMs: 500 } });
    await using stays = await connectAskable('SDK v1', gateway.url);
    await stays.list();
    const pid = await stays.call('asks__pid');
    const leaves = await connectAskable('SDK v1', gateway.url);
    for (let times = 0; times < 2; times++) await leaves.call('asks__elicit'); // known to ask from then on
    const gone = await leaves.call('asks__pid');
    const { sessionId } = leaves.client.transport!;
    await leaves.client.close();
    await until('its process to end', () => !children().includes(Number(gone)));
    expect(await stays.call('asks__pid')).toBe(pid); // its stream is open
    const again = new Client({ name: 'borders', version: '1.0.0' });
    await again.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { sessionId: sessionId! }));
    const { content } = await again.callTool({ name: 'asks__pid', arguments: {} });
    expect(content).toMatchObject([{ text: expect.stringMatching(/^\d+$/) }]);
    expect(content).not.toMatchObject([{ text: gone }]);
    await again.close();
  });

  test('share one process for everything where that is configured for all servers', async () => {
    await using gateway = await start({ asks: node(ASKS), other: node(ASKS) }, { share: 'all' });
    await using first = await connectAskable('SDK v1', gateway.url);
    await using second = await connectAskable('SDK v1', gateway.url);
    expect(await first.call('asks__pid')).toBe(await second.call('asks__pid'));
    expect(children()).toHaveLength(2);
  });
});

describe('more processes of a server than are allowed', () => {
  test('are refused with what to do, and only while the others are in use', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { maxProcesses: 2, ownIdleMs: 500 } });
    await using first = await connectAskable('SDK v1', gateway.url);
    await using second = await connectAskable('SDK v1', gateway.url);
    await Promise.all([first.list(), second.list()]);
    for (let times = 0; times < 2; times++) await first.call('elicit'); // known to ask from then on
    const refused = /asks already has 2 processes.*limits.maxProcesses.*share/;
    await expect(second.call('elicit')).rejects.toThrow(refused);
    expect(await second.call('pid')).toMatch(/^\d+$/); // shared
    await first.client.close();
    await until('room', () => second.call('elicit').then(Boolean, () => false));
  });
});

describe('where a server has as many processes as it may have', () => {
  /** Cannot be asked, and shares its connection only with clients that declare the same. */
  async function connectOdd(url: string, name: string) {
    const client = new Client({ name, version: '1' }, { capabilities: { experimental: { [name]: {} } } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const pid = async () => ((await client.callTool({ name: 'pid', arguments: {} })) as any).content[0].text as string;
    return { client, pid, [Symbol.asyncDispose]: () => client.close() };
  }

  test('those of clients that have left make room', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { maxProcesses: 3, ownIdleMs: NEVER } });
    for (const name of ['one', 'two', 'three']) {
      await using odd = await connectOdd(gateway.url, name);
      expect(await odd.pid()).toMatch(/^\d+$/);
    }
    await using client = await connectAskable('SDK v1', gateway.url);
    await until('room', () => client.call('pid').then(Boolean, () => false));
    await until('the others to end', () => children().length <= 3);
  });

  test('one that is ending still counts', async () => {
    using home = new Home();
    const journal = home.write('journal', '');
    const slow = home.write(
      'slow-to-leave.mjs',
      `import { appendFileSync } from 'node:fs';
appendFileSync(${JSON.stringify(journal)}, '+');
process.on('exit', () => appendFileSync(${JSON.stringify(journal)}, '-'));
process.stdin.on('end', () => setTimeout(() => process.exit(), 300));
await import(${JSON.stringify(ASKS)});
`,
    );
    await using gateway = await start({ asks: node(slow) }, { limits: { maxProcesses: 2, ownIdleMs: NEVER } });
    for (let visit = 0; visit < 4; visit++) {
      await using client = await connectAskable('SDK v1', gateway.url);
      await client.list();
      await until('room', () => client.call('pid').then(Boolean, () => false));
    }
    let [now, most] = [0, 0];
    for (const sign of readFileSync(journal, 'utf8')) most = Math.max(most, (now += sign === '+' ? 1 : -1));
    expect(most).toBe(2);
  });

  test('clients that cannot be asked use one of another kind when theirs is lost', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { maxProcesses: 2, ownIdleMs: NEVER } });
    await using plain = await connectSdk('SDK v1', gateway.url);
    const lost = Number(await plain.call('pid'));
    await using odd = await connectOdd(gateway.url, 'odd');
    const pid = await odd.pid();
    process.kill(lost, 'SIGKILL');
    await until('its end', () => !children().includes(lost));
    await using askable = await connectAskable('SDK v1', gateway.url);
    await until('a process of its own', () => askable.call('pid').then(Boolean, () => false));
    expect(await plain.call('pid')).toBe(pid);
  });

  test('a stateless client that can be asked uses a shared one', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { maxProcesses: 2, ownIdleMs: NEVER } });
    await using stateless = await connectAskable('SDK v2, 2026-07-28', gateway.url);
    await stateless.list();
    await using plain = await connectSdk('SDK v1', gateway.url);
    const shared = await plain.call('pid');
    await using askable = await connectAskable('SDK v1', gateway.url);
    for (let times = 0; times < 2; times++) await askable.call('elicit'); // known to ask from then on
    expect(await askable.call('pid')).not.toBe(shared);
    expect(await stateless.call('pid')).toBe(shared);
    expect(await stateless.call('elicit')).toBe('Oslo'); // alone on it
  });

  test.each([
    ['has', BOTH],
    ['does not have', ASKS],
  ])('the first stateless client uses a shared one, of a server that %s its era', async (_, server) => {
    await using gateway = await start({ server: node(server) }, { limits: { maxProcesses: 2, ownIdleMs: NEVER } });
    await using plain = await connectSdk('SDK v1', gateway.url);
    const shared = await plain.call('pid');
    await using askable = await connectAskable('SDK v1', gateway.url);
    expect(await askable.call('pid')).not.toBe(shared);
    await using stateless = await connectSdk('SDK v2, 2026-07-28', gateway.url);
    expect(await stateless.call('pid')).toBe(shared);
    expect(children()).toHaveLength(2);
  });

  test('a tool that is known to ask uses a shared one, and is refused its question where it could be another’s', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { maxProcesses: 1, ownIdleMs: NEVER } });
    await using first = await connectSdk('SDK v1', gateway.url);
    await using second = await connectSdk('SDK v1', gateway.url);
    expect(await first.call('elicit')).toContain('parley_answer');
    expect(await second.call('elicit')).toContain('The user was not asked');
  });
});

describe('a server whose processes are all held by questions', () => {
  test('answers calls that ask nothing', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { maxProcesses: 1, ownIdleMs: NEVER } });
    await using first = await connectSdk('SDK v1', gateway.url);
    await using second = await connectSdk('SDK v1', gateway.url);
    const pid = await second.call('pid');
    expect(await first.call('elicit')).toContain('parley_answer'); // the question waits
    expect(await second.call('pid')).toBe(pid);
  });

  test('has one left for clients that cannot be asked', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { maxProcesses: 3, ownIdleMs: NEVER } });
    await using first = await connectAskable('SDK v1', gateway.url);
    await first.call('elicit');
    const own = await first.call('pid'); // its own is the only one
    await using second = await connectAskable('SDK v1', gateway.url);
    await second.call('elicit');
    expect(await second.call('pid')).not.toBe(own);
    await using third = await connectAskable('SDK v1', gateway.url);
    await expect(third.call('elicit')).rejects.toThrow(/limits.maxProcesses/);
    await using plain = await connectSdk('SDK v1', gateway.url);
    expect(await plain.call('pid')).toMatch(/^\d+$/);
    expect(children()).toHaveLength(3);
  });
});

describe('users who take their time over a question', () => {
  const STATELESS = 'SDK v2, 2026-07-28';
  const undecided = () => {
    let decide = () => {};
    const thinking = new Promise<void>((resolve) => (decide = resolve));
    return { thinking, decide };
  };

  test('hold up no call and no question of other stateless clients, however many they are', async () => {
    await using gateway = await start({ asks: node(ASKS) });
    const { thinking, decide } = undecided();
    const slow = await Promise.all(
      Array.from({ length: 10 }, () => connectAskable(STATELESS, gateway.url, { thinking })),
    );
    const waiting = slow.map((client) => client.call('elicit'));
    await until('the questions', () => slow.every(({ asked }) => asked.length === 1));
    await using other = await connectAskable(STATELESS, gateway.url);
    expect(await other.call('pid')).toMatch(/^\d+$/);
    expect(await other.call('elicit')).toBe('Oslo');
    decide();
    expect(await Promise.all(waiting)).toEqual(slow.map(() => 'Oslo'));
    await Promise.all(slow.map(({ client }) => client.close()));
  });

  test('hold up no other call where the server asked for roots before it got theirs', async () => {
    await using gateway = await start({ early: node(ASKS, '--asks-at-start', '--logs') }, { limits: { maxPool: 2 } });
    const { thinking, decide } = undecided();
    const slow = await Promise.all(
      Array.from({ length: 3 }, () => connectAskable(STATELESS, gateway.url, { thinking })),
    );
    // The server gets the level first, and asks meanwhile.
    const meta = { 'io.modelcontextprotocol/logLevel': 'error' };
    const waiting = slow.map((client) => client.call('pid', { meta }));
    await until('the questions', () => slow.every(({ asked }) => asked.length === 1));
    await using other = await connectAskable(STATELESS, gateway.url);
    expect(await other.call('pid')).toMatch(/^\d+$/);
    decide();
    await Promise.all(waiting);
    await Promise.all(slow.map(({ client }) => client.close()));
  });

  test('leave a process for the calls of others, also where no more are allowed', async () => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { maxProcesses: 3, maxPool: 1 } });
    const { thinking, decide } = undecided();
    await using first = await connectAskable(STATELESS, gateway.url, { thinking });
    await using second = await connectAskable(STATELESS, gateway.url, { thinking });
    const waiting = [first.call('elicit'), second.call('elicit')];
    await until('the questions', () => [first, second].every(({ asked }) => asked.length === 1));
    await using third = await connectAskable(STATELESS, gateway.url);
    await using fourth = await connectAskable(STATELESS, gateway.url);
    expect(await third.call('pid')).toBe(await fourth.call('pid'));
    expect(await third.call('elicit')).toBe('Oslo'); // alone on the process that is left
    expect(children()).toHaveLength(3);
    decide();
    expect(await Promise.all(waiting)).toEqual(['Oslo', 'Oslo']);
  });
});

describe('a server that asks without end', () => {
  test.each(['SDK v1', 'SDK v2, 2026-07-28'] as const)(
    '%s: has its questions refused beyond a number',
    async (kind) => {
      await using gateway = await start({ asks: node(ASKS) }, { limits: { maxInFlight: 20 } });
      let decide = () => {};
      const thinking = new Promise<void>((resolve) => (decide = resolve));
      await using client = await connectAskable(kind, gateway.url, { thinking });
      const called = client.call('flood');
      await until('the questions', () => client.asked.length === 20);
      decide();
      expect(await called).toMatch(/^30 refused: .*Too many questions at once/);
      expect(await client.call('elicit')).toBe('Oslo');
    },
  );
});

describe('clients that declare something different each', () => {
  test.each(['SDK v1', 'SDK v2, 2026-07-28'] as const)('%s: have their lists when no process is left', async (kind) => {
    await using gateway = await start({ asks: node(ASKS) }, { limits: { maxProcesses: 3, ownIdleMs: NEVER } });
    for (let number = 0; number < 6; number++) {
      const experimental = { [`trial-${number}`]: {} };
      const client = await connectAskable(kind, gateway.url, { experimental });
      expect(await client.list()).toContain('elicit');
    }
    expect(children().length).toBeLessThanOrEqual(3);
  });
});

describe('a server that does not list', () => {
  /** The real time, but what takes as long as `startMs` is over when the test says so. */
  function handClock() {
    let skew = 0;
    const held = new Set<() => void>();
    const clock: Clock = {
      now: () => systemClock.now() + skew,
      after(ms, callback) {
        if (ms < START_MS / 2) return systemClock.after(ms, callback);
        held.add(callback);
        return () => void held.delete(callback);
      },
    };
    const pass = () => {
      skew += START_MS;
      for (const callback of Array.from(held)) callback();
    };
    return { clock, pass };
  }
  const START_MS = 1_000_000;
  const NEXT = ['SDK v1', 'SDK v2, handshake', 'SDK v1'] as const;

  test('makes one client wait, and no other', async () => {
    using home = new Home();
    const { clock, pass } = handClock();
    const never = node(ASKS, '--list-waits', join(home.path, 'never'));
    await using gateway = await start({ never, quick: node(ASKS) }, { startMs: START_MS, clock });
    await using first = await connectSdk('SDK v1', gateway.url);
    const listed = first.client.listTools();
    expect(await first.call('quick__pid')).toMatch(/^\d+$/); // it has listed by then
    await until('the list to be given up', () => {
      pass();
      return Promise.race([listed.then(() => true), new Promise((resolve) => setTimeout(resolve, 50, false))]);
    });
    for (const kind of NEXT) {
      await using client = await connectSdk(kind, gateway.url);
      const names = (await client.client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain('quick__pid');
      expect(names).not.toContain('never__pid');
    }
  });

  test('or is slow to: others get the last list at once, and are notified of a newer one', async () => {
    using home = new Home();
    const { clock, pass } = handClock();
    const file = join(home.path, 'now');
    const slow = node(ASKS, '--list-waits', file);
    await using gateway = await start({ slow, quick: node(ASKS) }, { startMs: START_MS, clock });
    await using first = await connectAskable('SDK v1', gateway.url);
    const listed = first.list();
    await until('the list to be given up', () => {
      pass();
      return Promise.race([listed.then(() => true), new Promise((resolve) => setTimeout(resolve, 50, false))]);
    });
    writeFileSync(file, '');
    await until('word of the list', () => first.heard.includes('notifications/tools/list_changed'));
    rmSync(file);
    expect(await first.list()).toContain('slow__pid');
    for (const kind of NEXT) {
      await using client = await connectSdk(kind, gateway.url);
      expect((await client.client.listTools()).tools.map(({ name }) => name)).toContain('slow__pid');
    }
  });
});
