import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { announce, runningGateways, stateFolder } from './state-file.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-state-'));
afterAll(() => rmSync(root, { recursive: true }));

const OURS = {
  ...{ pid: process.pid, url: 'http://127.0.0.1:1/mcp', serves: 'mcp.json', socket: '/nowhere.sock' },
  started: '2000-01-01T00:00:00.000Z',
};
/** No process can have it. */
const NOBODY = 2 ** 30;

describe('the state folder', () => {
  const around = { cwd: '/', home: '/users/ada', platform: 'linux' as const };

  it('is where the system keeps such things', () => {
    expect(stateFolder({ ...around, env: {} })).toBe('/users/ada/.local/state/parley');
    expect(stateFolder({ ...around, env: { XDG_STATE_HOME: '/s' } })).toBe('/s/parley');
    expect(stateFolder({ ...around, env: { XDG_STATE_HOME: 'relative' } })).toBe('/users/ada/.local/state/parley');
    const windows = stateFolder({ ...around, platform: 'win32', env: { LOCALAPPDATA: 'L' } });
    expect(windows.replaceAll('\\', '/')).toBe('L/parley');
  });
});

describe('a gateway that runs', () => {
  it('is found until it takes its file back', () => {
    const folder = join(root, 'one', 'parley');
    expect(runningGateways(folder)).toEqual([]);
    const takeBack = announce(folder, OURS);
    expect(runningGateways(folder)).toEqual([OURS]);
    expect(statSync(folder).mode & 0o077).toBe(0);
    takeBack();
    takeBack();
    expect(runningGateways(folder)).toEqual([]);
  });

  it('is told from those that have died, whose files are swept away', () => {
    const folder = join(root, 'two');
    announce(folder, { ...OURS, pid: NOBODY });
    expect(runningGateways(folder)).toEqual([]);
    announce(folder, OURS);
    expect(readdirSync(folder)).toEqual([`gateway-${process.pid}.json`]);
  });

  it('is not found by a file that is not whole', () => {
    const folder = join(root, 'three');
    announce(folder, OURS);
    const path = join(folder, `gateway-${process.pid}.json`);
    for (const text of ['', '{', '[]', '{"url":"nowhere","started":""}', '{"url":"http://x"}']) {
      writeFileSync(path, text);
      expect(runningGateways(folder)).toEqual([]);
    }
  });

  it('runs on where nothing can be written', () => {
    const file = join(root, 'file');
    writeFileSync(file, 'in the way');
    announce(join(file, 'parley'), OURS)();
    expect(readFileSync(file, 'utf8')).toBe('in the way');
  });
});
