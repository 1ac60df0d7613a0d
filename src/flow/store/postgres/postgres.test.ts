// The Postgres store on PGlite, which is Postgres in this process: quick, but with one connection. A real server is in
// tests/integration/flow-store-postgres.test.ts.
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { until } from '../../../../tests/helpers/until.ts';
import { toShortId } from '../../session-id.ts';
import { header, MANY, start } from '../store-samples.contract.ts';
import { keepsTheContract } from '../store.contract.ts';
import type { StoreUnderTest } from '../store.contract.ts';
import { createPostgresStore } from './postgres.ts';
import type { PostgresStoreOptions } from './postgres.ts';

const KEY = 'a key of this test';

let pool: PGlite;
let schemas = 0;
const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
beforeAll(async () => {
  pool = await PGlite.create();
});
afterAll(async () => {
  logged.mockRestore();
  await pool.close();
});

async function inItsSchema(
  options: Partial<PostgresStoreOptions> = {},
): Promise<Required<StoreUnderTest> & { schema: string }> {
  const schema = `test${schemas++}`;
  const again = () => createPostgresStore({ pool, schema, ...options });
  const store = await again();
  return { store, again, schema, end: () => store.close() };
}

keepsTheContract('Postgres', () => inItsSchema());

describe('a damaged row in Postgres', () => {
  it.each([
    ['of another type', `'7'`, `'7'`],
    ['without its fields', `'{}'`, `'[{}]'`],
    ['cut short', `header || '{"current": "[{\\"key"}'`, `'[{"t":"sta'`],
    ['with a number where a field was', `header || '{"current": 7}'`, `'?'`],
  ])('is STORE_FAILED with its name, and lists show the rest: %s', async (_, damagedHeader, damagedList) => {
    const { store, schema, end } = await inItsSchema();
    const [good, bad, torn] = [header(), header(), header()];
    for (const one of [good, bad, torn]) await store.create(one, [start], MANY);
    await pool.query(`UPDATE ${schema}.sessions SET header = ${damagedHeader} WHERE id = $1`, [bad.id]);
    await pool.query(`UPDATE ${schema}.entries SET list = ${damagedList} WHERE id = $1`, [torn.id]);
    const named = (id: string) => ({
      code: 'STORE_FAILED',
      message: expect.stringContaining(toShortId(id)) as string,
    });
    await expect(store.load(bad.id)).rejects.toMatchObject(named(bad.id));
    await expect(store.load(torn.id)).rejects.toMatchObject(named(torn.id));
    expect((await store.load(good.id))!.header.id).toBe(good.id);
    logged.mockClear();
    const ids = (await store.list('principal')).map(({ id }) => id);
    expect(ids.toSorted()).toEqual([good.id, torn.id].toSorted());
    expect(logged.mock.calls.join('')).toContain('flow.row-damaged');
    await end();
  });
});

describe('a Postgres store with a key', () => {
  it('opens only with that key, and not without one', async () => {
    const { again, schema, end } = await inItsSchema({ key: KEY });
    await expect(createPostgresStore({ pool, schema })).rejects.toThrow('is encrypted; give its key');
    await expect(createPostgresStore({ pool, schema, key: 'another key of it' })).rejects.toThrow(
      'does not open with this key',
    );
    await expect(createPostgresStore({ pool, schema, key: 'short' })).rejects.toThrow('at least 16 characters');
    await expect(createPostgresStore({ pool, schema, key: '' })).rejects.toMatchObject({ code: 'BAD_OPTION' });
    const plain = await inItsSchema();
    await expect(createPostgresStore({ pool, schema: plain.schema, key: KEY })).rejects.toThrow('is not encrypted');
    await (await again()).close();
    await plain.end();
    await end();
  });

  it('moves to another key while both are known', async () => {
    const { store, schema, end } = await inItsSchema({ key: KEY });
    const made = header({ current: [{ key: 'city' }] });
    await store.create(made, [start], MANY);
    await store.putBlob('name', Buffer.from('bytes'), 60_000);
    const next = 'the next key of it';
    const both = await createPostgresStore({ pool, schema, key: [next, KEY] });
    expect(await both.load(made.id)).toEqual({ header: made, entries: [start] });
    expect(Buffer.from((await both.getBlob('name'))!).toString()).toBe('bytes');
    const later = header();
    await both.create(later, [start], MANY);
    const moved = await createPostgresStore({ pool, schema, key: next });
    expect((await moved.load(later.id))!.entries).toEqual([start]);
    await expect(moved.load(made.id)).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await expect(moved.getBlob('name')).rejects.toMatchObject({ code: 'STORE_FAILED' });
    for (const one of [both, moved]) await one.close();
    await end();
  });

  it('does not take a value that was sealed for another session, another field or not at all', async () => {
    const { store, schema, end } = await inItsSchema({ key: KEY });
    const [one, two] = [header({ current: ['mine'] }), header({ current: ['theirs'], locale: 'de' })];
    for (const each of [one, two]) await store.create(each, [start], MANY);
    const put = (text: string) =>
      pool.query(
        `UPDATE ${schema}.sessions SET header = header || jsonb_build_object('current', ${text}) WHERE id = $1`,
        [one.id],
      );
    const ofTwo = (field: string) => `(SELECT header->>'${field}' FROM ${schema}.sessions WHERE id = '${two.id}')`;
    for (const text of [ofTwo('current'), `header->>'locale'`, `'["forged"]'`]) {
      await put(text);
      await expect(store.load(one.id)).rejects.toMatchObject({ code: 'STORE_FAILED' });
    }
    await pool.query(
      `UPDATE ${schema}.entries SET list = (SELECT list FROM ${schema}.entries WHERE id = $1) WHERE id = $2`,
      [one.id, two.id],
    );
    await expect(store.load(two.id)).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await end();
  });
});

describe('the tables of a Postgres store', () => {
  it('are refused if a newer Parley has written them, or if others have such tables', async () => {
    const { schema, end } = await inItsSchema();
    await pool.query(`UPDATE ${schema}.format SET version = 99`);
    await expect(createPostgresStore({ pool, schema })).rejects.toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringContaining('newer Parley (format 99)'),
    });
    await pool.exec('CREATE SCHEMA theirs; CREATE TABLE theirs.sessions (a int)');
    await expect(createPostgresStore({ pool, schema: 'theirs' })).rejects.toThrow(
      'the tables of theirs cannot be made: relation "sessions" already exists',
    );
    expect((await pool.query(`SELECT to_regclass('theirs.format') AS made`)).rows).toEqual([{ made: null }]);
    await end();
  });

  it.each(['', 'a"; DROP', 'x'.repeat(51), 'a$b'])('are refused in a schema called %j', async (schema) => {
    await expect(createPostgresStore({ pool, schema })).rejects.toMatchObject({ code: 'BAD_OPTION' });
  });

  it('hold no more ended sessions than they may, the newest, and nothing that has expired', async () => {
    const { store, schema, end } = await inItsSchema({ maxTombstones: 3 });
    const made = Array.from({ length: 8 }, () => header());
    for (const [index, one] of made.entries()) {
      await store.create(one, [], MANY);
      await store.commit(one.id, 1, { patch: { state: 'completed' }, tombstoneMs: 60_000 + index });
    }
    await store.spend('s', 1, 1);
    await store.putBlob('b', Buffer.from('x'), 1);
    const countOf = async (table: string) =>
      (await pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${schema}.${table}`)).rows[0]!.n;
    await until('the rest to be removed', async () => {
      await store.spend('other', 1, 60_000); // what expired goes beside other work
      return (await countOf('sessions')) === 3 && (await countOf('spent')) === 1 && (await countOf('blobs')) === 0;
    });
    const left = await Promise.all(made.map(({ id }) => store.load(id)));
    expect(left.map(Boolean)).toEqual([false, false, false, false, false, true, true, true]);
    await end();
  });
});
