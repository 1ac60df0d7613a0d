import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileStamp } from './file-stamp.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'parley-stamp-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('the stamp of a file changes when the file comes, changes and goes, and when it cannot be looked at', () => {
  const path = join(folder, 'a');
  const stamps = [fileStamp(path)];
  writeFileSync(path, 'one');
  stamps.push(fileStamp(path));
  writeFileSync(path, 'longer');
  stamps.push(fileStamp(path));
  rmSync(path);
  symlinkSync(path, path); // a link to itself: every look at it fails, for root, too
  stamps.push(fileStamp(path));
  expect(new Set(stamps).size).toBe(4);
  expect(stamps.at(-1)).toBe('unreadable ELOOP');
  rmSync(path);
  expect(fileStamp(path)).toBe(stamps[0]);
});
