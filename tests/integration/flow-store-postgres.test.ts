// The Postgres store against a real server: of the packages of Debian, or what is in the path.
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/flow/store/postgres/postgres.ts';
import type { PostgresPool } from '../../src/flow/store/postgres/postgres-connection.ts';
import type { PostgresStoreOptions } from '../../src/flow/store/postgres/postgres.ts';
import { keepsTheContract } from '../../src/flow/store/store.contract.ts';
import type { StoreUnderTest } from '../../src/flow/store/store.contract.ts';
import { outlivesItsProcess } from '../../src/flow/store/store-durable.contract.ts';
import { expectWhole, grownTo, keepsItsWordInRaces } from '../../src/flow/store/store-races.contract.ts';
import { answer, header, MANY, start } from '../../src/flow/store/store-samples.contract.ts';
import type { ChangedSession } from '../../src/flow/store/store.ts';
import { hasPostgres, startPostgres } from '../helpers/postgres-server.ts';
import type { PostgresServer } from '../helpers/postgres-server.ts';
import { until } from '../helpers/until.ts';

const KEY = 'a key of this test';

describe.skipIf(!hasPostgres())('the Postgres store', () => {
  let postgres: PostgresServer;
  let schemas = 0;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres[Symbol.asyncDispose]());

  async function inItsSchema(
    options: PostgresStoreOptions = {},
  ): Promise<Required<StoreUnderTest> & { schema: string }> {
    const schema = `test${schemas++}`;
    const again = () => createPostgresStore({ url: postgres.url, schema, ...options });
    const store = await again();
    return { store, again, schema, end: () => store.close() };
  }

  keepsTheContract('Postgres', () => inItsSchema());
  keepsItsWordInRaces('Postgres', () => inItsSchema());
  outlivesItsProcess('Postgres', () => inItsSchema());
  keepsTheContract('Postgres with a key', () => inItsSchema({ key: KEY }));
  outlivesItsProcess('Postgres with a key', () => inItsSchema({ key: KEY }));

  it('keeps what it acknowledged when the server crashes, and continues by itself', async () => {
    const { store, end } = await inItsSchema();
    const made = header();
    await store.create(made, [start], MANY);
    await store.commit(made.id, 1, { patch: { prompts: 1 }, add: [answer('city', 'Paris')] });
    await postgres.crash();
    expect(await store.load(made.id)).toEqual({
      header: { ...made, prompts: 1, rev: 2 },
      entries: [start, answer('city', 'Paris')],
    });
    expect((await store.commit(made.id, 2, { patch: {} })).ok).toBe(true);
    await end();
  });

  it('waits for a server that is restarted, in the middle of many commits', async () => {
    const { store, end } = await inItsSchema();
    const made = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const one = header();
        await store.create(one, [start], MANY);
        return one;
      }),
    );
    const work = made.map(async ({ id }) => {
      for (let rev = 1; rev <= 20; rev++)
        expect(await store.commit(id, rev, grownTo(rev + 1))).toEqual({ ok: true, rev: rev + 1 });
    });
    const resume = await postgres.pause();
    await resume();
    await Promise.all(work);
    for (const one of made) expect((await store.load(one.id))!.entries).toHaveLength(21);
    await end();
  });

  it('does each change once though connections are cut all the time', async () => {
    const { store, end } = await inItsSchema();
    const made = header({ current: [1] });
    await store.create(made, [start], MANY);
    const over = new AbortController();
    const cutting = (async () => {
      while (!over.signal.aborted) {
        postgres.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    for (let rev = 1; rev <= 100; rev++) {
      expect(await store.commit(made.id, rev, grownTo(rev + 1))).toEqual({ ok: true, rev: rev + 1 });
      expect(await store.spend(made.id, rev, 60_000)).toBe(true);
    }
    over.abort();
    await cutting;
    await expectWhole(store, made);
    await end();
  });

  it('gives up on a server that neither answers nor ends, and says so', async () => {
    await using frozen = await startPostgres();
    const store = await createPostgresStore({ url: frozen.url, patienceMs: 500 });
    const made = header();
    await store.create(made, [start], MANY);
    const resume = frozen.freeze();
    await expect(store.load(made.id)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringMatching(/Postgres: /),
    });
    resume();
    expect(
      (await until('the server to answer again', () => store.load(made.id).catch(() => undefined))).header,
    ).toEqual(made);
    await store.close();
  });

  it('tells a change that is sent again what it was told before', async () => {
    const own = new Pool({ connectionString: postgres.url });
    // Every answer is lost once, as when the connection breaks after the server has done it.
    const twice: PostgresPool = {
      async query(text, values) {
        await own.query(text, values);
        return own.query(text, values);
      },
    };
    const store = await createPostgresStore({ pool: twice, schema: 'twice' });
    const made = header();
    expect(await store.create(made, [start], { perPrincipal: 1, total: 1 })).toBe('ok');
    expect(await store.commit(made.id, 1, { patch: { prompts: 1 }, add: [answer('a', 1)] })).toEqual({
      ok: true,
      rev: 2,
    });
    expect((await store.load(made.id))!.entries).toEqual([start, answer('a', 1)]);
    expect(await store.spend('s', 1, 60_000)).toBe(true);
    expect(await store.spend('s', 1, 60_000)).toBe(false);
    expect(await store.commit(made.id, 2, { patch: { state: 'completed' }, tombstoneMs: 0 })).toEqual({
      ok: true,
      rev: 3,
    });
    expect(await store.load(made.id)).toBeUndefined();
    await store.close();
    expect((await own.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await own.end();
  });

  it.each(['40001', '40P01', '57P01', '08006', '53300'])('repeats a statement that fails with %s', async (code) => {
    const own = new Pool({ connectionString: postgres.url });
    let failures = 0;
    const moody: PostgresPool = {
      async query(text, values) {
        if (failures++ % 3 !== 2) throw Object.assign(new Error('not now'), { code });
        return own.query(text, values);
      },
    };
    const store = await createPostgresStore({ pool: moody, schema: `moody${schemas++}` });
    const made = header();
    expect(await store.create(made, [start], MANY)).toBe('ok');
    expect(await store.commit(made.id, 1, { patch: {} })).toEqual({ ok: true, rev: 2 });
    await store.close();
    await own.end();
  });

  it('keeps its word where transactions are serializable unless somebody says otherwise', async () => {
    await using strict = await startPostgres({ default_transaction_isolation: 'serializable' });
    const [one, two] = await Promise.all(
      Array.from({ length: 2 }, () => createPostgresStore({ url: strict.url, schema: 'strict' })),
    );
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        [one, two][index % 2]!.create(header(), [], { perPrincipal: 7, total: 100 }),
      ),
    );
    expect(made.filter((told) => told === 'ok')).toHaveLength(7);
    await one!.close();
    await two!.close();
  });

  it('wakes other processes when a session has changed, also after its connection was cut', async () => {
    const { store, again, end } = await inItsSchema();
    const other = await again();
    const heard: ChangedSession[] = [];
    const own: ChangedSession[] = [];
    const stop = other.onChange!((changed) => heard.push(changed));
    store.onChange!((changed) => own.push(changed));
    const made = header();
    await store.create(made, [start], MANY);
    let rev = 1;
    const isHeard = async (): Promise<boolean> => {
      // Whatever is sent before it listens is lost: that is why all is polled as well.
      await store.commit(made.id, rev++, { patch: {}, dueAt: 1234 });
      return heard.some(({ id, dueAt }) => id === made.id && dueAt === 1234);
    };
    await until('the wake-up', isHeard);
    postgres.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`);
    heard.length = 0;
    await until('a wake-up on a new connection', isHeard);
    expect(own).toEqual([]);
    postgres.sql(`NOTIFY "test${schemas - 1}", 'not ours'`);
    stop();
    await other.close();
    await end();
  });

  it('leaves no answer readable in the tables of a store with a key', async () => {
    const { store, schema, end } = await inItsSchema({ key: KEY });
    const made = header({ current: [{ message: 'cinnamon?' }], locale: 'cinnamon' });
    await store.create(made, [start, answer('spice', 'cinnamon')], MANY);
    await store.commit(made.id, 1, { patch: { reason: 'cinnamon' }, add: [answer('more', 'cinnamon')] });
    await store.putBlob('name', Buffer.from('cinnamon'), 60_000);
    const rows = ['sessions', 'entries', 'blobs']
      .map((table) => postgres.sql(`SELECT * FROM ${schema}.${table}`))
      .join();
    expect(rows).toContain(made.id);
    expect(rows).not.toMatch(new RegExp(`cinnamon|${Buffer.from('cinnamon').toString('hex')}`));
    await end();
  });

  it('can be opened to look at it, and nothing is written then', async () => {
    const { store, schema, end } = await inItsSchema();
    const made = header();
    await store.create(made, [start], MANY);
    const looking = await createPostgresStore({ url: postgres.url, schema, readOnly: true });
    expect((await looking.load(made.id))!.entries).toEqual([start]);
    await expect(looking.commit(made.id, 1, { patch: {} })).rejects.toThrow('The flow store failed');
    await looking.close();
    await expect(createPostgresStore({ url: postgres.url, schema: 'nothing', readOnly: true })).rejects.toThrow(
      'the schema nothing holds no sessions',
    );
    await end();
  });

  it('is made once though many processes start at the same time', async () => {
    const stores = await Promise.all(
      Array.from({ length: 6 }, () => createPostgresStore({ url: postgres.url, schema: 'at-once' })),
    );
    expect(new Set(stores.map(({ salt }) => salt)).size).toBe(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('says what is wrong with an address, a user or a database, without the password', async () => {
    const refused = (url: string, reason: RegExp) =>
      expect(createPostgresStore({ url })).rejects.toMatchObject({ message: expect.stringMatching(reason) });
    await expect(createPostgresStore({})).rejects.toThrow(/url: is missing/);
    await refused('nowhere', /url: is not a URL/);
    await refused('postgres://me:secret@127.0.0.1:1/db', /used: 127\.0\.0\.1:1\/db does not answer: (?!.*secret)/);
    await refused(`postgres://parley@127.0.0.1:${postgres.port}/none`, /database "none" does not exist/);
    postgres.sql('CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0');
    await refused(`postgres://parley@127.0.0.1:${postgres.port}/latin`, /encoding LATIN1; it needs UTF8/);
    postgres.sql('CREATE ROLE guest LOGIN');
    await refused(
      `postgres://guest@127.0.0.1:${postgres.port}/postgres`,
      /the tables of parley_flow cannot be made: .*permission denied/,
    );
  });
});
