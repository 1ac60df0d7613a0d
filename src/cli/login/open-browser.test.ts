import { describe, expect, it } from 'vitest';
import { browserCommand } from './open-browser.ts';

const linux = { env: { DISPLAY: ':0' }, platform: 'linux' as const };

describe('the command that opens a link', () => {
  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'vscode://x',
    'ms-msdt:/id',
    '-h',
    '$(touch /tmp/x)',
    'not a link',
  ])('is refused for %s', (link) => {
    expect(browserCommand(link, linux)).toBeUndefined();
  });

  it.each([
    'https://as.example/?a=$(id)&b=`id`;id|id"\'\n<>\\',
    'https://as.example/" & calc.exe & "',
    'https://a.b/ -x',
  ])('has the link as one argument, without what shells could read: %s', (link) => {
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      const command = browserCommand(link, { ...linux, platform })!;
      expect(command.at(-1)).toMatch(/^https:\/\/[\w.~:/?#[\]@&+,=%-]*$/);
      expect(command).toHaveLength(platform === 'win32' ? 3 : 2);
    }
  });

  it('the command that opens a link is the one that the user has chosen', () => {
    const env = { BROWSER: '/usr/bin/my browser' };
    expect(browserCommand('https://a.b/', { ...linux, env })).toEqual(['/usr/bin/my browser', 'https://a.b/']);
    expect(browserCommand('https://a.b/', { ...linux, env: { BROWSER: 'none', DISPLAY: ':0' } })).toBeUndefined();
  });

  it('the command that opens a link is not opened over SSH, or without a display', () => {
    expect(browserCommand('https://a.b/', { ...linux, env: { DISPLAY: ':0', SSH_CONNECTION: 'x' } })).toBeUndefined();
    expect(browserCommand('https://a.b/', { ...linux, env: {} })).toBeUndefined();
  });
});
