import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSqliteStore, openSqliteStore } from './sqlite.ts';
import { MANY, header, start } from '../store-samples.contract.ts';
import { createLeaseHolder, identifyProcess } from '../../../kernel/files/lease-holder.ts';

const here = identifyProcess();
const ours = createLeaseHolder();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** One that runs until the test ends, and one that has ended and whose number is free. */
async function running(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
  closing.push(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child.pid!;
}

async function dead(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid!;
}

describe.skipIf(!here)('the process of a lease', () => {
  const markedBy = (over: object) => createLeaseHolder({ ...here!, ...over }).marked('node_1.1');

  it('is dead if no process has its pid, and alive if one has', async () => {
    expect(ours.isDead(markedBy({ pid: await dead() }))).toBe(true);
    expect(ours.isDead(markedBy({ pid: await running() }))).toBe(false);
    expect(ours.isDead(ours.marked('node_1.1'))).toBe(false);
  });

  it('is dead if this process has its number now', () => {
    expect(ours.isDead(markedBy({ start: '1' }))).toBe(true);
  });

  it('is never judged from another container, after another boot, or without knowing where it was', async () => {
    const pid = await dead();
    expect(ours.isDead(markedBy({ space: `${here!.space.split('/')[0]}/pid:[1]`, pid }))).toBe(false);
    expect(ours.isDead(markedBy({ space: `another/${here!.space.split('/')[1]}`, pid }))).toBe(false);
    expect(ours.isDead('node_1.1')).toBe(false);
    expect(createLeaseHolder(undefined).marked('node_1.1')).toContain('node_1.1');
  });

  it('keeps its sessions while it lives, and loses them at once when it is dead', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-holder-'));
    const path = join(folder, 'flows.db');
    const store = await createSqliteStore({ path });
    closing.push(
      () => rmSync(folder, { recursive: true }),
      () => store.close(),
    );
    const held = async (pid: number, id: string) => {
      const other = await openSqliteStore({ path }, createLeaseHolder({ ...here!, pid }));
      await other.create(header({ id }), [start], MANY);
      const lease = (await other.lease(id, 'node_2.1', 3_600_000))!;
      await other.commit(id, 1, { patch: { state: 'processing' }, fence: lease.fence, dueAt: Date.now() + 30_000 });
      await other.close();
      return lease.fence;
    };
    await held(await running(), 'alive');
    const fence = await held(await dead(), 'dead');
    expect(await store.due(Date.now(), 10)).toEqual(['dead']);
    expect(await store.lease('alive', 'node_1.1', 1000)).toBeUndefined();
    expect(await store.lease('dead', 'node_1.1', 1000)).toEqual({ fence: fence + 1 });
    expect(await store.due(Date.now(), 10)).toEqual([]);
    expect(await store.lease('dead', 'node_1.2', 1000)).toBeUndefined();
    const late = await store.commit('dead', 2, { patch: {}, fence });
    expect(late).toMatchObject({ ok: false });
  });
});
