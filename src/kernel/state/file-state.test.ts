import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { createLog } from '../base/log.ts';
import { FileState } from './file-state.ts';
import { openSharedState } from './open-shared-state.ts';
import { keepsTheStateContract } from './state.contract.ts';

const log = createLog({ level: 'silent' });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-state-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

keepsTheStateContract('a folder', async () => {
  const folder = makeFolder();
  let now = Date.now();
  const clock = { ...systemClock, now: () => now };
  const again = async (): Promise<FileState> => {
    const state = new FileState(folder, { log, clock });
    closing.push(() => state.close());
    return state;
  };
  return { state: await again(), again, pass: async (ms) => void (now += ms) };
});

it('a state in a folder is there for the next process, and for its user alone', async () => {
  const folder = join(makeFolder(), 'new');
  const first = await openSharedState(`file://${folder}`);
  await first.put('s', 'a', 'one', { version: 0 });
  await first.take('proof', 60_000);
  await first.close();
  const next = await openSharedState(`file://${folder}`);
  closing.push(() => next.close());
  expect((await next.get('s', 'a'))?.value).toBe('one');
  expect(await next.take('proof', 60_000)).toBe(false);
  const files = readdirSync(folder);
  expect(files.toSorted()).toEqual(['set-s.json', 'taken.json']);
  for (const file of files) expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
});

it('a state whose file is damaged fails and does not answer', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'taken.json'), '{"rows": 1}', { mode: 0o600 });
  const state = new FileState(folder, { log, clock: systemClock });
  closing.push(() => state.close());
  await expect(state.take('a', 60_000)).rejects.toMatchObject({ code: 'STATE_FAILED' });
  expect(await state.put('s', 'a', 'one', { version: 0 })).toBeGreaterThan(0);
});

it('a file of the state that cannot be looked at while it is watched counts as changed, and is watched on', async () => {
  const folder = makeFolder();
  const due: (() => void)[] = [];
  const look = () => due.splice(0).forEach((callback) => callback());
  const after = (_ms: number, callback: () => void) => (due.push(callback), () => {});
  const state = new FileState(folder, { log, clock: { ...systemClock, after } });
  closing.push(() => state.close());
  let changes = 0;
  state.watch('s', () => void changes++);
  const path = join(folder, 'set-s.json');
  symlinkSync(path, path); // a link to itself: every look at it fails, for root, too
  look();
  expect(changes).toBe(1);
  await expect(state.get('s', 'a')).rejects.toMatchObject({ code: 'STATE_FAILED' });
  rmSync(path);
  look();
  expect(changes).toBe(2);
  expect(await state.get('s', 'a')).toBeUndefined();
});
