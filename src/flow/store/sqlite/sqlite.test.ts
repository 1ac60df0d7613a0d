import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepsTheContract } from '../store.contract.ts';
import type { StoreUnderTest } from '../store.contract.ts';
import { outlivesItsProcess } from '../store-durable.contract.ts';
import { keepsItsWordInRaces } from '../store-races.contract.ts';
import { answer, header, MANY, start } from '../store-samples.contract.ts';
import { createSqliteStore } from './sqlite.ts';
import type { FlowStore } from '../store.ts';

async function inAFile(key?: string): Promise<Required<StoreUnderTest>> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-sqlite-'));
  const open = () => createSqliteStore({ path: join(folder, 'flows.db'), key });
  const store = await open();
  return {
    store,
    again: open,
    async end() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const plain = () => inAFile();
const encrypted = () => inAFile('a key of some length');

keepsTheContract('SQLite', plain);
keepsItsWordInRaces('SQLite', plain);
outlivesItsProcess('SQLite', plain);
outlivesItsProcess('SQLite with a key', encrypted);

describe('the file of the SQLite store', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-sqlite-'));
    path = join(folder, 'deep', 'er', 'flows.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const filled = async (key?: string): Promise<FlowStore> => {
    const store = await createSqliteStore({ path, key });
    const made = header({ tool: 'TOOL-MARK' });
    await store.create(made, [start], MANY);
    await store.commit(made.id, 1, { patch: {}, add: [answer('city', 'ANSWER-MARK'.repeat(500))] });
    return store;
  };

  it.skipIf(process.platform === 'win32')('is for its owner alone, with its side files and folders', async () => {
    const store = await filled();
    const files = readdirSync(join(path, '..'));
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect(statSync(join(path, '..', file)).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    await store.close();
  });

  it('holds nothing readable when it has a key, neither before nor after the close', async () => {
    const store = await filled('a secret of some length');
    expect(inAnyFile(path, 'MARK')).toBe(false);
    await store.close();
    expect(inAnyFile(path, 'MARK')).toBe(false);
    expect(inAnyFile(path, 'SQLite format')).toBe(false);
  });

  it('keeps nothing of a session that ended', async () => {
    const store = await createSqliteStore({ path });
    const made = header({ current: ['QUESTION-MARK'] });
    await store.create(made, [start], MANY);
    await store.commit(made.id, 1, { patch: {}, add: [answer('city', 'ANSWER-MARK'.repeat(500))] });
    expect(inAnyFile(path, 'ANSWER-MARK')).toBe(true);
    await store.commit(made.id, 2, { patch: { state: 'completed' } });
    await store.close();
    expect(inAnyFile(path, 'MARK')).toBe(false);
  });

  it('says so when the key is wrong, missing, or too much', async () => {
    await (await filled('a secret of some length')).close();
    await refused({ path, key: 'guess' }, /flows\.db does not open with this key, or is damaged/);
    await refused({ path }, /is encrypted or not a SQLite file; give its key/);
    path = join(folder, 'plain.db');
    await (await filled()).close();
    await refused({ path, key: 'a secret of some length' }, /is not encrypted, and a key was given/);
    await expect(createSqliteStore({ path, key: '' })).rejects.toThrow(/key: is empty/);
    const short = createSqliteStore({ path: join(folder, 'new.db'), key: 'x' });
    await expect(short).rejects.toThrow(/key: each needs at least 16 characters/);
    await expect(createSqliteStore({ path: '' })).rejects.toThrow(/path: is missing/);
  });

  it('says so when it is not a database, of another program, or of a newer Parley', async () => {
    path = join(folder, 'garbage.db');
    writeFileSync(path, randomBytes(20_000));
    await refused({ path }, /not a SQLite file/);
    await refused({ path: folder }, /cannot be opened/);
    const { default: Database } = await import('libsql');
    path = join(folder, 'other.db');
    const other = new Database(path);
    other.exec('CREATE TABLE theirs (a)');
    other.close();
    await refused({ path }, /belongs to another program/);
    path = join(folder, 'newer.db');
    await (await filled()).close();
    const newer = new Database(path);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    await refused({ path }, /newer Parley \(format 99\)/);
  });

  it('can be opened to look at it, and nothing is written then', async () => {
    const store = await filled();
    await expect(createSqliteStore({ path: `${path}.typo`, readOnly: true })).rejects.toThrow('typo does not exist');
    expect(existsSync(`${path}.typo`)).toBe(false);
    const looking = await createSqliteStore({ path, readOnly: true });
    const made = header();
    const [id] = await idsIn(looking);
    expect((await looking.load(id!))!.entries).toHaveLength(2);
    await expect(looking.create(made, [start], MANY)).rejects.toThrow('The flow store failed');
    await expect(looking.commit(id!, 2, { patch: { prompts: 9 } })).rejects.toThrow('The flow store failed');
    await store.create(made, [start], MANY);
    expect(new Set(await idsIn(looking))).toEqual(new Set([id, made.id]));
    await looking.close();
    await store.close();
  });

  it('says so when it was damaged', async () => {
    await (await filled()).close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, 4096));
    const work = async () => {
      const store = await createSqliteStore({ path });
      await store.create(header(), [start], MANY).finally(() => store.close());
    };
    await expect(work()).rejects.toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining('damaged') });
  });

  it('remembers no more ended sessions than it may, the newest', async () => {
    let time = 1_000_000;
    const clock = { now: () => time, after: () => () => undefined };
    const store = await createSqliteStore({ path, maxTombstones: 3, clock });
    const made = Array.from({ length: 8 }, () => header());
    for (const one of made) {
      await store.create(one, [], MANY);
      await store.commit(one.id, 1, { patch: { state: 'completed' } });
      time += 1;
    }
    time += 1000;
    await store.release('any', 'one');
    const left = await Promise.all(made.map(({ id }) => store.load(id)));
    expect(left.map(Boolean)).toEqual([false, false, false, false, false, true, true, true]);
    time += 300_000;
    expect(await store.load(made[7]!.id)).toBeUndefined();
    await store.close();
  });
});

async function idsIn(store: FlowStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of store.browse!()) ids.push(...page.map(({ header: { id } }) => id));
  return ids;
}

describe('group commit', () => {
  it('tells the one that fails, and does the others', async () => {
    const { store, end } = await plain();
    const made = header();
    await store.create(made, [], MANY);
    const circle = header();
    const broken = Object.assign(header(), {
      expiresAt: 'never' as unknown as number,
      principal: null as unknown as string,
    });
    const answers = await Promise.allSettled([
      store.commit(made.id, 1, { patch: { prompts: 1 } }),
      store.create(broken, [], MANY),
      store.create(circle, [], MANY),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await store.load(made.id))!.header.prompts).toBe(1);
    expect(await store.load(circle.id)).toBeDefined();
    expect(await store.load(broken.id)).toBeUndefined();
    await end();
  });

  it('waits for another process without stopping this one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-sqlite-'));
    const path = join(folder, 'flows.db');
    const store = await createSqliteStore({ path });
    const { default: Database } = await import('libsql');
    const other = new Database(path);
    other.exec('BEGIN IMMEDIATE');
    const asked = store.create(header(), [], MANY);
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 1));
    other.exec('COMMIT');
    expect(await asked).toBe('ok');
    other.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
});

async function refused(options: Parameters<typeof createSqliteStore>[0], reason: RegExp): Promise<void> {
  await expect(createSqliteStore(options)).rejects.toMatchObject({
    code: 'STORE_UNUSABLE',
    message: expect.stringMatching(reason),
  });
}

function inAnyFile(path: string, mark: string): boolean {
  const folder = join(path, '..');
  return readdirSync(folder).some((file) => readFileSync(join(folder, file)).includes(mark));
}
