import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { chooseSandbox } from './sandbox.ts';

let folder: string;
const before = process.env['PATH'];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-path-'));
  process.env['PATH'] = folder;
});

afterEach(() => {
  process.env['PATH'] = before;
  rmSync(folder, { recursive: true });
});

function install(...commands: string[]): void {
  for (const command of commands) {
    writeFileSync(join(folder, command), '#!/bin/sh\n');
    chmodSync(join(folder, command), 0o755);
  }
}

it('takes the runtime where all that it needs is there, else bubblewrap', () => {
  install('bwrap');
  expect(chooseSandbox(true)).toMatchObject({ kind: 'bubblewrap', isWhole: true });
  expect(chooseSandbox({ hosts: ['a.example'] })).toMatchObject({ kind: 'bubblewrap', isWhole: false });
  install('socat', 'rg', 'srt');
  expect(chooseSandbox({ hosts: ['a.example'] })).toMatchObject({ kind: 'sandbox-runtime', isWhole: true });
  expect(chooseSandbox({ hosts: ['*'] })).toMatchObject({ kind: 'bubblewrap', isWhole: true });
});

it('does not start a server without the sandbox that it needs', () => {
  const wrapped = (one: Parameters<typeof chooseSandbox>[0]) => chooseSandbox(one).wrap({ command: 'server' });
  expect(() => wrapped(true)).toThrow('needs @anthropic-ai/sandbox-runtime or bubblewrap');
  install('bwrap');
  expect(() => wrapped({ image: 'node:22' })).toThrow('needs docker');
  expect(wrapped({ image: 'node:22', optional: true })).toEqual({ command: 'server', args: [] });
});

it('gives docker the names of variables, and never their values', () => {
  install('docker');
  const sandbox = chooseSandbox({ image: 'node:22', write: ['/data'] });
  expect(sandbox).toMatchObject({ kind: 'docker', holds: 'it can change /data; no network' });
  const { command, args } = sandbox.wrap({ command: 'node', args: ['a.js'], env: { TOKEN: 'secret' }, cwd: '/code' });
  expect(command).toBe(join(folder, 'docker'));
  expect(args.join(' ')).toContain('--network none --env TOKEN --volume /code:/code:ro --workdir /code');
  expect(args.slice(-5)).toEqual(['--volume', '/data:/data', 'node:22', 'node', 'a.js']);
  expect(args.join(' ')).not.toContain('secret');
});

it('shows bubblewrap no sockets of others, also if the server lies or works in a shared folder', () => {
  install('bwrap');
  const { args } = chooseSandbox(true).wrap({ command: 'node', args: [folder, '/run'], cwd: '/tmp' });
  const shown = args.flatMap((arg, index) => (arg === '--ro-bind' ? [args[index + 1]] : []));
  expect(shown).toEqual(['/', folder.split('/', 3).join('/')]);
});

it('starts no server whose folder has become a link to another one', () => {
  install('bwrap');
  const [own, other] = [join(folder, 'own'), join(folder, 'other')];
  for (const path of [own, other]) mkdirSync(path);
  const wrapped = () => chooseSandbox({ write: [own] }).wrap({ command: 'server' });
  expect(wrapped().args).toContain(own);
  rmSync(own, { recursive: true });
  symlinkSync('other', own);
  expect(wrapped).toThrow(`${own} leads elsewhere than when Parley started`);
  rmSync(own);
  mkdirSync(own);
  expect(wrapped().args).toContain(own);
});
