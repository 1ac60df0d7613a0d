// Two users of one gateway: what is kept for one of them, a cached result, a remembered yes, a share of a limit, is never the other's. What steps
// learn of each is what the login found out.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Client, GatewayOptions } from 'mcp-parley';
import { approve, cache } from 'mcp-parley/middleware';
import { connected, textOf } from '../helpers/fixture-server.ts';

const log = createLog({ level: 'silent' });
const KEYS = { ann: 'parley_the-key-of-ann-0123456789', bob: 'parley_the-key-of-bob-0123456789' };
const REVISIONS = ['2025-11-25', '2026-07-28'];
type Who = keyof typeof KEYS;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serving(options: Partial<GatewayOptions> & Pick<GatewayOptions, 'servers'>) {
  const keys = Object.entries(KEYS).map(([name, key]) => ({ name, key, groups: [`friends of ${name}`] }));
  const auth = { keys, headers: ['X-Team'] };
  const gateway = createGateway({ log, auth, ...options });
  closing.push(() => gateway.close());
  const { url } = await gateway.listen({ port: 0 });
  return async (who: Who, more: Parameters<typeof connected>[1] = {}): Promise<Client> => {
    const headers = { authorization: `Bearer ${KEYS[who]}`, 'x-team': `team of ${who}` };
    const client = await connected({ url, headers }, more);
    closing.push(() => client.close());
    return client;
  };
}

describe.each(REVISIONS)('two users with %s', (revision) => {
  test.each(['private', 'public'] as const)(
    'share a cached result that is %s only if it is public',
    async (cacheScope) => {
      const server = createServer({ name: 'inner', version: '1', log, cache: { ttlMs: 60_000, cacheScope } });
      const reads: string[] = [];
      server.resource('me://page', { name: 'page' }, (_, { client }) => {
        reads.push(client.principal);
        return `the page of ${client.principal}`;
      });
      const as = await serving({ servers: { inner: server }, steps: [cache()] });
      const [ann, bob] = [await as('ann', { revision }), await as('bob', { revision })];
      const read = async (client: Client) => JSON.stringify(await client.readResource('me://page'));
      for (let n = 0; n < 3; n++) {
        expect(await read(ann)).toContain('the page of key:ann');
        expect(await read(bob)).toContain(cacheScope === 'private' ? 'the page of key:bob' : 'the page of key:ann');
      }
      expect(reads).toEqual(cacheScope === 'private' ? ['key:ann', 'key:bob'] : ['key:ann']);
    },
  );

  test('do not share a yes that is remembered', async () => {
    const server = createServer({ name: 'inner', version: '1', log });
    server.tool('erase', { annotations: { destructiveHint: true } }, () => 'erased');
    const asked: Who[] = [];
    const steps = [approve({ remember: { ms: 600_000, per: 'tool' } })];
    const as = await serving({ servers: { inner: server }, steps, ask: { trust: 'all' } });
    const person = (who: Who, allow: boolean) => ({
      revision,
      onElicit: () => {
        asked.push(who);
        return { action: 'accept' as const, content: { approve: allow } };
      },
    });
    const ann = await as('ann', person('ann', true));
    const bob = await as('bob', person('bob', false));
    for (let n = 0; n < 2; n++) expect(await textOf(ann, 'erase')).toBe('erased');
    for (let n = 0; n < 2; n++) expect(await textOf(bob, 'erase')).toContain('not approved');
    expect(await textOf(ann, 'erase')).toBe('erased');
    expect(asked).toEqual(['ann', 'bob', 'bob']);
  });

  test('are seen by steps as who they are, whatever they say of themselves', async () => {
    const server = createServer({ name: 'inner', version: '1', log });
    server.tool('hello', {}, () => 'hello');
    const seen: unknown[] = [];
    const look = {
      name: 'look',
      methods: ['tools/call'],
      handle: async (exchange, next) => {
        const { principal, connection } = exchange.client;
        const { transport, identity } = connection!;
        seen.push({ principal, transport, key: identity?.key, groups: identity?.groups, headers: identity?.headers });
        return next();
      },
    } satisfies NonNullable<GatewayOptions['steps']>[number];
    const as = await serving({ servers: { inner: server }, steps: [look] });
    for (const who of ['ann', 'bob'] as const)
      await textOf(await as(who, { revision, name: 'key:ann', version: '1' }), 'hello');
    const of = (who: Who) => ({
      principal: `key:${who}`,
      transport: 'http',
      key: who,
      groups: [`friends of ${who}`],
      headers: { 'x-team': `team of ${who}` },
    });
    expect(seen).toEqual([of('ann'), of('bob')]);
  });
});

test('one who has reached a limit does not stop the other', async () => {
  const server = createServer({ name: 'inner', version: '1', log, limits: { maxTasks: 1 }, taskGraceMs: 1 });
  server.tool('slow', { task: 'required' }, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return 'ended';
  });
  const as = await serving({ servers: { inner: server } });
  const [ann, bob] = [await as('ann', { revision: '2025-11-25' }), await as('bob', { revision: '2025-11-25' })];
  const begin = (client: Client) =>
    client.request('tools/call', { name: 'slow', arguments: {}, task: {} }) as Promise<{ task: { taskId: string } }>;
  expect((await begin(ann)).task.taskId).toEqual(expect.any(String));
  await expect(begin(ann)).rejects.toThrow(/tasks/);
  expect((await begin(bob)).task.taskId).toEqual(expect.any(String));
});

test('a rule judges by a header that the configuration names, and by no other', async () => {
  const server = createServer({ name: 'inner', version: '1', log });
  server.tool('erase', {}, () => 'erased');
  const rules = [
    { tool: 'erase', when: 'headers["x-team"] == "team of ann"', effect: 'allow' as const },
    { tool: '*', effect: 'deny' as const },
  ];
  const as = await serving({ servers: { inner: server }, rules });
  expect(await textOf(await as('ann'), 'erase')).toBe('erased');
  const refused = await textOf(await as('bob'), 'erase').catch((error: Error) => error.message);
  expect(refused).not.toBe('erased');
});

test('headers that hold secrets cannot be named', () => {
  const server = createServer({ name: 'inner', version: '1', log });
  const auth = { keys: [{ name: 'ann', key: KEYS.ann }], headers: ['Authorization'] };
  expect(() => createGateway({ servers: { inner: server }, log, auth })).toThrow(/auth.headers.*holds secrets/);
});
