// Rows that a disk error, or a hand, has damaged.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findSessions } from '../../operator/find-sessions.ts';
import { toShortId } from '../../session-id.ts';
import { header, MANY, start } from '../store-samples.contract.ts';
import { createSqliteStore } from './sqlite.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

describe('a damaged row', () => {
  it.each([
    ['cut short', (text: string) => text.slice(0, -9)],
    ['another type', () => '7'],
    ['without its fields', () => '{}'],
  ])('is STORE_FAILED with its name, and lists show the rest: %s', async (_, damage) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-damaged-'));
    folders.push(folder);
    const path = join(folder, 'flows.db');
    const store = await createSqliteStore({ path });
    const [good, bad, torn] = [header(), header(), header()];
    for (const one of [good, bad, torn]) await store.create(one, [start], MANY);
    const file = new Database(path);
    const { header: text } = file.prepare('SELECT header FROM sessions WHERE id = ?').get(bad.id) as { header: string };
    file.prepare('UPDATE sessions SET header = ? WHERE id = ?').run(damage(text), bad.id);
    file.prepare('UPDATE entries SET list = ? WHERE id = ?').run(damage('[{"t":"start","ts":1}]'), torn.id);
    file.close();
    const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const failed = (id: string) => ({
      code: 'STORE_FAILED',
      message: expect.stringContaining(toShortId(id)) as string,
    });
    await expect(store.load(bad.id)).rejects.toMatchObject(failed(bad.id));
    await expect(store.load(torn.id)).rejects.toMatchObject(failed(torn.id));
    expect((await store.load(good.id))!.header.id).toBe(good.id);
    const ids = (headers: { id: string }[]) => headers.map(({ id }) => id).toSorted();
    expect(ids(await store.list('principal'))).toEqual(ids([good, torn]));
    const { sessions } = await findSessions(store, {}, 10);
    expect(ids(sessions.map((one) => one.header))).toEqual(ids([good, torn]));
    expect(logged.mock.calls.join('')).toContain('flow.row-damaged');
    await store.close();
  });
});
