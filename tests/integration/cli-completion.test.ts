// Completion in a real shell, with what a running gateway offers.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { homesOfTests } from '../helpers/parley.ts';

const { newHome, start } = homesOfTests();

it('completes the names of tools in bash, and has a script for PowerShell', async () => {
  const home = newHome();
  await start(home, ['demo', '--port', '0']).url();
  const script = (await home.run(['completion', 'bash'])).stdout;
  const { command, args = [], env } = home.address([]);
  const words = [command, ...args].map((word) => `'${word}'`).join(' ');
  const typed = `COMP_WORDS=(parley call wea); COMP_CWORD=2; _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', `parley() { ${words} "$@"; }\n${script}\n${typed}`], {
    encoding: 'utf8',
    cwd: home.path,
    env: { ...process.env, ...env },
  });
  expect({ stdout, stderr }).toEqual({ stdout: 'weather\n', stderr: '' });
  const powershell = (await home.run(['completion', 'powershell'])).stdout;
  expect(powershell).toContain('Register-ArgumentCompleter -Native -CommandName parley, mcp-parley');
});
