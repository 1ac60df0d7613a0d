import { expect, test } from 'vitest';
import { safeEnv } from './safe-env.ts';

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
