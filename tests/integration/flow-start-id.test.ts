// A tool that is a flow, called with `_meta["mcp-parley/start-id"]`: however often the call is repeated with that id, everything is done once,
// and each call gets the same result. With official clients, over stores that processes share, and through gateways.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import type { Client, ConnectOptions } from 'mcp-parley';
import { OFFICIAL, isOfficial, openOfficial } from '../helpers/durable-flows/official.ts';
import type { Player } from '../helpers/durable-flows/official.ts';
import { answerOnPage } from '../helpers/durable-flows/on-page.ts';
import { connected, fixture, startHttp } from '../helpers/fixture-server.ts';
import type { HttpFixture } from '../helpers/fixture-server.ts';
import { startRedis } from '../helpers/redis-server.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { hasTool } from '../helpers/tools.ts';
import { until, within } from '../helpers/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-start-id-'));
const ledger = join(folder, 'ledger');
const gate = `${ledger}.wait`;
const shipped = (): string[] => readFileSync(ledger, 'utf8').split('\n').filter(Boolean);
let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
beforeAll(async () => {
  if (hasTool('redis-server')) redis = await startRedis();
});
afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
  removeFolder(folder);
});

const PLACES: Record<string, () => object> = {
  SQLite: () => ({ sqlite: { path: join(folder, 'flows.db') } }),
  ...(hasTool('redis-server') && { Redis: () => ({ redis: { url: redis!.url } }) }),
};
const KINDS = [...OFFICIAL, 'task'] as const;
type Kind = (typeof KINDS)[number];
type Fill = NonNullable<ConnectOptions['onElicit']>;
const FAR: Fill = () => ({ action: 'accept', content: { to: 'Oslo' } });
const NEVER = new Promise<never>(() => {});

interface Caller {
  url: string;
  kind: Kind;
  onElicit?: Fill;
  who?: string;
}

const open: AsyncDisposable[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one[Symbol.asyncDispose]()));
});

async function opened({ url, kind, onElicit = FAR, who = 'ada' }: Caller): Promise<Player> {
  const client = isOfficial(kind)
    ? await openOfficial(kind, { url, who, onElicit, down: () => NEVER })
    : await connected({ url, headers: { 'x-user': who } }, { revision: '2025-11-25', onElicit });
  open.push({ [Symbol.asyncDispose]: async () => void (await Promise.allSettled([client[Symbol.asyncDispose]()])) });
  return client;
}

/** What a call with this id comes to. */
async function ship(caller: Caller, startId: string, what = 'a lamp'): Promise<string> {
  const client = await opened(caller);
  const options = { startId, ...(caller.kind === 'task' && { task: true }) };
  return textOf(await within('the end of the call', client.callTool('ship', { what }, options)));
}

function textOf({ content: [block] }: Awaited<ReturnType<Client['callTool']>>): string {
  return block?.type === 'text' ? block.text : '';
}

describe.each(Object.keys(PLACES))('in %s', (place) => {
  const processes: HttpFixture[] = [];
  const start = async (): Promise<HttpFixture> => {
    const server = await startHttp(fixture('keeps-results', [JSON.stringify(PLACES[place]!()), ledger]));
    processes.push(server);
    return server;
  };
  beforeEach(() => writeFileSync(ledger, ''));
  afterEach(async () => {
    rmSync(gate, { force: true });
    await Promise.all(processes.splice(0).map((server) => server.stop()));
  });

  test('a call of 2026-07-28 that was held for the page continues by its handle, and then by its id', async () => {
    const { url } = await start();
    const onElicit: Fill = () => ({ action: 'accept', content: { name: 'Ada' } });
    await using client = await connected({ url, headers: { 'x-user': 'ada' } }, { revision: '2026-07-28', onElicit });
    const startId = randomUUID();
    let held = await client.callTool('vault', {}, { startId });
    const next = async (answer: object): Promise<string> => {
      held = await client.callTool('parley_answer', { handle: held._meta?.['mcp-parley/handle'], ...answer });
      return textOf(held);
    };
    const [link] = /http:\S+\/ask\?\S+/.exec(textOf(held))!;
    await answerOnPage(link, 'ada', ['1234']);
    expect(await next({})).toContain('What is it?');
    expect(await next({ answer: { what: 'gold' } })).toBe('gold of Ada');
    expect(textOf(await client.callTool('vault', {}, { startId }))).toBe('gold of Ada');
  });

  describe.each(KINDS)('as %s', (kind) => {
    test('a call that is repeated gets the kept result: here, in another process, and after a kill', async () => {
      const [startId, asked] = [randomUUID(), [] as string[]];
      const onElicit: Fill = ({ message }) => {
        asked.push(message);
        return { action: 'accept', content: { to: 'Oslo' } };
      };
      const [first, other] = [await start(), await start()];
      const told = [await ship({ url: first.url, kind, onElicit }, startId)];
      for (const { url } of [first, other]) told.push(await ship({ url, kind, onElicit }, startId));
      await Promise.all([first.stop(), other.stop()]);
      told.push(await ship({ url: (await start()).url, kind, onElicit }, startId));
      expect(told).toEqual(Array(4).fill('a lamp is in Oslo'));
      expect([asked, shipped().length]).toEqual([['Where to?'], 1]);
    });

    test('a call that is repeated while the work runs gets its result', async () => {
      writeFileSync(gate, '');
      const startId = randomUUID();
      const [{ url }, other] = [await start(), await start()];
      const first = ship({ url, kind }, startId);
      await until('the work to begin', () => shipped().length > 0);
      const asked: string[] = [];
      const onElicit: Fill = ({ message }) => {
        asked.push(message);
        return { action: 'decline' };
      };
      const again = [url, other.url].map((where) => ship({ url: where, kind, onElicit }, startId));
      rmSync(gate);
      expect(await Promise.all([first, ...again])).toEqual(Array(3).fill('a lamp is in Oslo'));
      expect([asked, shipped().length]).toEqual([[], 1]);
    });

    test('a call that is repeated while its question is open is asked the same, and both get the result', async () => {
      const startId = randomUUID();
      const [{ url }, other] = [await start(), await start()];
      let fill = (_: Awaited<ReturnType<Fill>>): void => {};
      let isAsked = false;
      const slowly: Fill = () => {
        isAsked = true;
        return new Promise((resolve) => (fill = resolve));
      };
      const first = ship({ url, kind, onElicit: slowly }, startId);
      await until('the first to be asked', () => isAsked);
      expect(await ship({ url: other.url, kind }, startId)).toBe('a lamp is in Oslo');
      fill({ action: 'accept', content: { to: 'Rome' } });
      expect(await first).toBe('a lamp is in Oslo');
      expect(shipped()).toHaveLength(1);
    });

    test('a call whose process was killed with an open question continues with the same question', async () => {
      const startId = randomUUID();
      const server = await start();
      let isAsked = false;
      const forever: Fill = () => {
        isAsked = true;
        return NEVER;
      };
      const client = await opened({ url: server.url, kind, onElicit: forever });
      client.callTool('ship', { what: 'a lamp' }, { startId, task: kind === 'task' }).catch(() => {});
      await until('the call to ask', () => isAsked);
      await server.stop();
      const asked: string[] = [];
      const onElicit: Fill = ({ message }) => {
        asked.push(message);
        return { action: 'accept', content: { to: 'Oslo' } };
      };
      expect(await ship({ url: (await start()).url, kind, onElicit }, startId)).toBe('a lamp is in Oslo');
      expect([asked, shipped().length]).toEqual([['Where to?'], 1]);
    });

    test('an id is for one start of one user', async () => {
      const startId = randomUUID();
      const { url } = await start();
      await ship({ url, kind }, startId);
      await expect(ship({ url, kind }, startId, 'a chair')).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('was used for another start') as string,
      });
      await expect(ship({ url, kind }, 'short')).rejects.toMatchObject({ code: -32602 });
      expect(shipped()).toHaveLength(1);
      expect(await ship({ url, kind, who: 'eve' }, startId, 'a chair')).toBe('a chair is in Oslo');
      expect(await ship({ url, kind }, randomUUID())).toBe('a lamp is in Oslo');
      expect(shipped()).toHaveLength(3);
    });

    test('through two gateways it is the same: each user has their own ids, and each gateway passes them on', async () => {
      const startId = randomUUID();
      const server = await start();
      const inFront = async (): Promise<string> => {
        const gateway = createGateway({
          servers: { shop: { url: server.url, headers: { 'x-user': 'the gateway' } } },
          identify: ({ headers }) => String(headers['x-user']),
          log: createLog({ level: 'silent' }),
          startMs: 60_000,
        });
        open.push({ [Symbol.asyncDispose]: () => gateway.close() });
        return (await gateway.listen({ port: 0 })).url;
      };
      const [one, other] = [await inFront(), await inFront()];
      const told: string[] = [];
      for (const url of [one, one, other]) told.push(await ship({ url, kind }, startId));
      expect(told).toEqual(Array(3).fill('a lamp is in Oslo'));
      expect(shipped()).toHaveLength(1);
      expect(await ship({ url: one, kind, who: 'eve' }, startId, 'a chair')).toBe('a chair is in Oslo');
      expect(shipped()).toHaveLength(2);
      expect(existsSync(gate)).toBe(false);
    });
  });
});
