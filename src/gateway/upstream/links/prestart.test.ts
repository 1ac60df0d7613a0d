import { expect, test } from 'vitest';
import { stopUnusedPrestarted, prestart, takePrestarted } from './prestart.ts';

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
