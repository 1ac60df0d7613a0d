import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  symlinkSync,
} from 'node:fs';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { askStatus } from './control-socket.ts';
import { writeStateFile, announceGateway, listRunningGateways } from './state-file.ts';
import { stateFolder } from '../../kernel/secrets/own-folders.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-state-'));
afterAll(() => rmSync(root, { recursive: true }));

const OURS = {
  pid: process.pid,
  url: 'http://127.0.0.1:1/mcp',
  serves: 'mcp.json',
  socket: '/nowhere.sock',
  started: '2000-01-01T00:00:00.000Z',
};
/** No process can have it. */
const NOBODY = 2 ** 30;

describe('the state folder', () => {
  const around = { cwd: '/', home: '/users/ada', platform: 'linux' as const };

  it('the state folder is where the system keeps such things', () => {
    expect(stateFolder({ ...around, env: {} })).toBe('/users/ada/.local/state/parley');
    expect(stateFolder({ ...around, env: { XDG_STATE_HOME: '/s' } })).toBe('/s/parley');
    expect(stateFolder({ ...around, env: { XDG_STATE_HOME: 'relative' } })).toBe('/users/ada/.local/state/parley');
    const windows = stateFolder({ ...around, platform: 'win32', env: { LOCALAPPDATA: 'L' } });
    expect(windows.replaceAll('\\', '/')).toBe('L/parley');
  });
});

describe('a gateway that runs', () => {
  it('a gateway that runs is found until it takes its file back', () => {
    const folder = join(root, 'one', 'parley');
    expect(listRunningGateways(folder)).toEqual([]);
    const takeBack = writeStateFile(folder, OURS);
    expect(listRunningGateways(folder)).toEqual([OURS]);
    expect(statSync(folder).mode & 0o077).toBe(0);
    takeBack();
    takeBack();
    expect(listRunningGateways(folder)).toEqual([]);
  });

  it('a gateway that runs is told from those that have died, whose files are swept away', () => {
    const folder = join(root, 'two');
    writeStateFile(folder, { ...OURS, pid: NOBODY });
    expect(listRunningGateways(folder)).toEqual([]);
    writeStateFile(folder, OURS);
    expect(readdirSync(folder)).toEqual([`gateway-${process.pid}.json`]);
  });

  it('a gateway that runs is not found by, nor written through, a link of somebody else', () => {
    const folder = join(root, 'linked');
    mkdirSync(folder);
    const [path, other] = [join(folder, `gateway-${process.pid}.json`), join(root, 'other.json')];
    writeFileSync(other, JSON.stringify(OURS), { mode: 0o600 });
    symlinkSync(other, path);
    expect(listRunningGateways(folder)).toEqual([]);
    writeStateFile(folder, { ...OURS, serves: 'the true one' });
    expect(readFileSync(other, 'utf8')).toBe(JSON.stringify(OURS));
    expect(listRunningGateways(folder)).toMatchObject([{ serves: 'the true one' }]);
    chmodSync(path, 0o666);
    expect(listRunningGateways(folder)).toEqual([]);
  });

  it('a gateway that runs is not found by a file that is not whole', () => {
    const folder = join(root, 'three');
    writeStateFile(folder, OURS);
    const path = join(folder, `gateway-${process.pid}.json`);
    for (const text of ['', '{', '[]', '{"url":"nowhere","started":""}', '{"url":"http://x"}']) {
      writeFileSync(path, text);
      expect(listRunningGateways(folder)).toEqual([]);
    }
  });

  it('runs on where nothing can be written', () => {
    const file = join(root, 'file');
    writeFileSync(file, 'in the way');
    writeStateFile(join(file, 'parley'), OURS)();
    expect(readFileSync(file, 'utf8')).toBe('in the way');
  });
});

describe.skipIf(process.platform === 'win32')('the socket of a gateway', () => {
  const status = { pid: process.pid, started: '', servers: [] };
  const gateway = { serves: 'a test', status: async () => status as never, accept: async () => {} };
  const long = join(root, 'a-folder-with-a-long-name'.repeat(5));

  it.each([
    ['in the state folder', join(root, 'short')],
    ['in a private folder where that path is too long', long],
  ])('is for this user alone, %s', async (_, folder) => {
    const takeBack = announceGateway(gateway, folder);
    const [{ socket } = { socket: '' }] = listRunningGateways(folder);
    expect(lstatSync(socket).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
    expect(await askStatus(socket, 10_000)).toEqual(status);
    takeBack();
    expect([existsSync(socket), existsSync(dirname(socket))]).toEqual([false, folder !== long]);
    expect(listRunningGateways(folder)).toEqual([]);
  });

  it('the socket of a gateway is swept away with its private folder when the gateway was killed', () => {
    const inside = mkdtempSync(join(tmpdir(), 'parley-socket-'));
    writeFileSync(join(inside, 'gateway.sock'), '');
    const folder = join(root, 'killed');
    writeStateFile(folder, { ...OURS, pid: NOBODY, socket: join(inside, 'gateway.sock') });
    writeStateFile(folder, OURS);
    expect(existsSync(inside)).toBe(false);
  });

  it('keeps what was written right after the first line for a gateway that listens a little later', async () => {
    const folder = join(root, 'early');
    const heard = new Promise<string>((resolve) => {
      const accept = async (socket: Socket): Promise<void> => {
        await Promise.resolve();
        socket.on('data', (chunk) => resolve(String(chunk)));
      };
      announceGateway({ ...gateway, accept }, folder);
    });
    const [{ socket: path } = { socket: '' }] = listRunningGateways(folder);
    const socket = createConnection(path);
    socket.write('mcp\n{"first":true}\n');
    expect(await heard).toBe('{"first":true}\n');
    socket.destroy();
  });

  it('the socket of a gateway is not announced where it cannot be opened', () => {
    const folder = join(root, 'blocked');
    mkdirSync(join(folder, `gateway-${process.pid}.sock`), { recursive: true });
    announceGateway(gateway, folder)();
    expect(readdirSync(folder)).toEqual([`gateway-${process.pid}.sock`]);
  });

  it('the socket of a gateway is not talked to where it belongs to another user', async () => {
    const folder = join(root, 'foreign');
    const takeBack = announceGateway(gateway, folder);
    const [{ socket } = { socket: '' }] = listRunningGateways(folder);
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(process.getuid!() + 1);
    await expect(askStatus(socket, 10_000)).rejects.toThrow('not a socket of this user');
    getuid.mockRestore();
    takeBack();
  });
});
