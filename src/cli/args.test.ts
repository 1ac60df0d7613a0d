import { describe, expect, it } from 'vitest';
import { readArgs } from './args.ts';

describe('readArgs', () => {
  it('reads a demo with its defaults', () => {
    expect(readArgs(['demo'])).toEqual({ name: 'demo', port: undefined, host: '127.0.0.1', stdio: false });
  });

  it('reads the options of a demo wherever they stand', () => {
    const wanted = { name: 'demo', port: 0, host: '::1', stdio: false };
    expect(readArgs(['demo', '--port', '0', '--host', '::1'])).toEqual(wanted);
    expect(readArgs(['--host=::1', '--port=0', 'demo'])).toEqual(wanted);
  });

  it('lets help and version win over everything else', () => {
    expect(readArgs(['demo', '--port', 'x', '--help'])).toEqual({ name: 'help' });
    expect(readArgs(['-v'])).toEqual({ name: 'version' });
  });

  it.each(['-1', '65536', '1e3', '0x10', '8470 ', ''])('refuses %j as a port', (port) => {
    const reason = `--port must be a number from 0 to 65535, not "${port}".`;
    expect(readArgs(['demo', `--port=${port}`])).toEqual({ name: 'mistake', reason });
  });

  it('refuses an empty host, which would mean every address', () => {
    expect(readArgs(['demo', '--host='])).toMatchObject({ name: 'mistake' });
  });

  it('never throws, whatever is typed', () => {
    for (const argv of [['--'], ['-'], ['--='], ['---'], ['demo', '--', '--port'], ['\0'], ['']]) {
      expect(readArgs(argv)).toMatchObject({ name: 'mistake' });
    }
  });
});
