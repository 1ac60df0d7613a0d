import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../../kernel/base/clock.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import { pinFile, pinFolder, readPinFile, updatePinFile } from './pin-record.ts';
import { pinsInState } from './pin-store.ts';
import type { PinForm, PinRecord } from './pin.ts';
import { acceptWaiting, listWaiting } from './waiting-definitions.ts';

const stateFolder = mkdtempSync(join(tmpdir(), 'parley-waiting-'));
afterAll(() => rmSync(stateFolder, { recursive: true, force: true }));

const state = new MemoryState(systemClock);
const place = { state, stateFolder, gateway: 'mine' };

function form(digest: string, description: string, more: Partial<PinForm>): PinForm {
  return { digest, likeness: digest, at: '2026-01-01T00:00:00Z', value: { description }, listings: [], ...more };
}

/** The pins of a server with a tool that says something else now. */
function changed(gateway: string, digest: string, description: string): PinRecord {
  const forms = [form('old', 'Reads a note.', { isAccepted: true }), form(digest, description, { listings: ['x y'] })];
  const pins = { 'tools read': { area: 'tools' as const, name: 'read', forms } };
  return { gateway, server: 'notes', address: 'a', known: ['tools'], pins };
}

async function change(gateway: string, digest: string, description: string): Promise<string> {
  const path = pinFile(pinFolder(stateFolder), { gateway, server: 'notes' });
  await updatePinFile(path, () => changed(gateway, digest, description));
  return path;
}

it('what waits is shown word by word, without control characters, and only that of this gateway', async () => {
  await change('mine', 'new', 'Reads a {+secret+}\u001b note.');
  await change('another', 'new', 'Reads all.');
  expect(await listWaiting(place)).toEqual([
    {
      server: 'notes',
      area: 'tools',
      name: 'read',
      state: 'changed',
      digests: 'new',
      lines: [
        [
          { kind: 'same', text: 'description: Reads a ' },
          { kind: 'added', text: '{+secret+}\\u{1b} ' },
          { kind: 'same', text: 'note.' },
        ],
      ],
    },
  ]);
});

it('it is accepted once, and only as it was shown', async () => {
  const path = await change('mine', 'new', 'Reads two notes.');
  const [shown] = await listWaiting(place);
  await change('mine', 'newer', 'Reads all notes.');
  expect(await acceptWaiting(shown!, place)).toBe(false);
  const [again] = await listWaiting(place);
  expect(await acceptWaiting({ ...again!, server: 'other' }, place)).toBe(false);
  expect(await acceptWaiting(again!, { ...place, gateway: 'nobody' })).toBe(false);
  expect(await acceptWaiting(again!, place)).toBe(true);
  expect(await acceptWaiting(again!, place)).toBe(false);
  expect(await listWaiting(place)).toEqual([]);
  expect(readPinFile(path)?.pins['tools read']?.forms.map(({ digest }) => digest)).toEqual(['newer']);
});

it('what waits in a shared state is accepted there, whatever the gateway is called', async () => {
  const shared = { ...place, state: new MemoryState(systemClock, { isShared: true }) };
  await pinsInState(shared.state, 'notes').update(() => changed('shared', 'new', 'Reads two notes.'));
  const [shown] = await listWaiting(shared);
  expect(shown?.digests).toBe('new');
  expect(await acceptWaiting(shown!, shared)).toBe(true);
  expect(await acceptWaiting(shown!, shared)).toBe(false);
  expect(await listWaiting(shared)).toEqual([]);
});

it('nothing waits where nothing is kept', async () => {
  expect(await listWaiting({ ...place, stateFolder: undefined })).toEqual([]);
});
