import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../base/log.ts';
import { keysFrom } from './state-keys.ts';

const GIVEN = 'sixteen or more.';
let folder: string;
const lines: string[] = [];
const log = createLog({ level: 'warn', write: (line) => lines.push(line) });
beforeEach(() => {
  lines.length = 0;
  folder = mkdtempSync(join(tmpdir(), 'parley-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('keys in the state folder', () => {
  it('keys in the state folder are made once, and only their owner can read them', () => {
    const stateFolder = join(folder, 'state', 'parley');
    const made = keysFrom({ stateFolder }, log)!;
    expect(made).toEqual([expect.stringMatching(/^[\w-]{44}$/)]);
    expect(keysFrom({ stateFolder }, log)).toEqual(made);
    expect(readdirSync(stateFolder)).toEqual(['keys']);
    expect([statSync(stateFolder).mode & 0o777, statSync(join(stateFolder, 'keys')).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
  });

  it('become private if the file was readable by others', () => {
    const path = join(folder, 'keys');
    const [newer, older] = ['n'.repeat(16), 'o'.repeat(20)];
    writeFileSync(path, `${newer}\n${older}\n`);
    chmodSync(path, 0o644);
    expect(keysFrom({ stateFolder: folder }, log)).toEqual([newer, older]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each(['x', `${'n'.repeat(32)}\nshort`, `   ${'y'.repeat(15)}   `])(
    'keys in the state folder are refused where one is short, as in %j',
    (text) => {
      const path = join(folder, 'keys');
      writeFileSync(path, `${text}\n`);
      expect(keysFrom({ stateFolder: folder }, log)).toBeUndefined();
      expect(lines.join('')).toMatch(
        /"event":"keys.not-kept".*is too short: a key has at least 16 characters. Remove the file/,
      );
      expect(lines.join('')).not.toContain(text.trim().split('\n').at(-1)!.repeat(2));
    },
  );

  it('keys in the state folder are not needed where keys are given or no folder is named', () => {
    expect(keysFrom({ keys: [GIVEN], stateFolder: folder }, log)).toEqual([GIVEN]);
    expect(keysFrom({}, log)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('end with the process if the folder is unusable, and the log says so', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(keysFrom({ stateFolder: join(folder, 'file') }, log)).toBeUndefined();
    writeFileSync(join(folder, 'keys'), '\n');
    expect(keysFrom({ stateFolder: folder }, log)).toBeUndefined();
    expect(lines.map((line) => JSON.parse(line) as { event?: string; msg?: string })).toHaveLength(2);
  });
});

describe('keys that a program gives', () => {
  it.each([[['short']], [[GIVEN, 'x'.repeat(15)]]])(
    'keys that a program gives are refused if one is too short: %j',
    (keys) => {
      expect(() => keysFrom({ keys }, log)).toThrow(
        'keys: each needs at least 16 characters; `openssl rand -base64 32` makes one',
      );
    },
  );
});
