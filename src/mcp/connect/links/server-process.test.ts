import { expect, test } from 'vitest';
import { prestart, safeEnv, stopUnusedPrestarted, takePrestarted } from './server-process.ts';

const waiting = { command: process.execPath, args: ['-e', 'process.stdin.resume()'], env: { A: '1' } };

test('a prestarted process is taken once, by the same command', async () => {
  prestart(waiting);
  expect(takePrestarted({ ...waiting, env: { A: '2' } })).toBeUndefined();
  const group = takePrestarted(waiting)!;
  expect(group.child.pid).toBeGreaterThan(0);
  expect(takePrestarted(waiting)).toBeUndefined();
  group.child.stdin.end();
  await group.exited;
});

test('an unused prestarted process is ended', async () => {
  prestart(waiting);
  await stopUnusedPrestarted();
  expect(takePrestarted(waiting)).toBeUndefined();
});

test('of two identical commands one is prestarted', async () => {
  prestart(waiting);
  prestart(waiting);
  const group = takePrestarted(waiting)!;
  expect(takePrestarted(waiting)).toBeUndefined();
  group.child.stdin.end();
  await group.exited;
});

test.each([
  ['does not exist', { command: 'no-such-command-anywhere' }],
  ['is empty', { command: '' }],
  ['is in a file', { command: `${process.execPath}/node` }],
  ['has a file for its folder', { command: process.execPath, cwd: process.execPath }],
  ['has an argument that no command can have', { command: process.execPath, args: ['a\0b'] }],
])('a command that %s is left to who opens it', (_, command) => {
  prestart(command);
  expect(takePrestarted(command)).toBeUndefined();
});

test('only what programs need to run is inherited, and the own variables win', () => {
  const ours = { PATH: '/bin', LC_ALL: 'C', TOKEN: 'secret', HOME: '/root', LANG: undefined };
  expect(safeEnv({ HOME: '/srv', OWN: '1' }, ours, 'linux')).toEqual({
    PATH: '/bin',
    LC_ALL: 'C',
    HOME: '/srv',
    OWN: '1',
  });
});

test('on Windows names are compared without regard to case', () => {
  expect(safeEnv({}, { Path: 'C:\\', SystemRoot: 'C:\\W', HOME: 'x' }, 'win32')).toEqual({
    Path: 'C:\\',
    SystemRoot: 'C:\\W',
  });
});

test('a function exported by a shell is not inherited', () => {
  expect(safeEnv({}, { TERM: '() { :;}; echo bad' }, 'linux')).toEqual({});
});
