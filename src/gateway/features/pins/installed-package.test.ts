import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { installedPackage } from './installed-package.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-packages-')));
afterAll(() => rmSync(root, { recursive: true }));

const project = join(root, 'project', 'deep');
const env = { npm_config_cache: join(root, 'cache'), PATH: join(root, 'bin') };
mkdirSync(project, { recursive: true });

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function install(folder: string, name: string, version: string): string {
  const own = join(folder, 'node_modules', name);
  write(join(own, 'package.json'), JSON.stringify({ name, version }));
  return write(join(own, 'dist', 'index.js'), '');
}

/** The folder of npx for these words. */
const npxFolder = (spec: string): string =>
  join(root, 'cache', '_npx', createHash('sha512').update(spec).digest('hex').slice(0, 16));

install(npxFolder('mail'), 'mail', '1.2.3');
install(npxFolder('@a/mail@latest'), '@a/mail', '2.0.0');
install(npxFolder('a\nb'), 'b', '3.0.0');
const local = install(join(root, 'project'), 'near', '4.0.0');
const global = install(join(root, 'lib'), 'far', '5.0.0');
mkdirSync(join(root, 'bin'));
symlinkSync(global, join(root, 'bin', 'far-server'));
write(join(root, 'bin', 'other'), '');
write(join(root, 'project', 'package.json'), JSON.stringify({ name: 'own', version: '0.1.0' }));
write(join(project, 'server.mjs'), '');
install(npxFolder('evil'), 'evil', '1\u001b[2J\u202E');
write(join(npxFolder('broken'), 'node_modules', 'broken', 'package.json'), '{');

const found = (line: string): string | undefined => {
  const [command, ...args] = line.split(' ');
  return installedPackage({ command: command!, args, env, cwd: project });
};

describe('finds the package and its version', () => {
  it.each([
    ['npx -y mail', 'mail 1.2.3'],
    ['npx mail --root /data', 'mail 1.2.3'],
    ['/usr/bin/npx --yes @a/mail@latest', '@a/mail 2.0.0'],
    ['npx -y --package=b -p a start', 'b 3.0.0'],
    ['npx near', 'near 4.0.0'],
    ['npx -y mail@9.9.9', 'mail 9.9.9'],
    ['uvx mail@0.4.1', 'mail 0.4.1'],
    ['uvx --from mail==0.4.2 start', 'mail 0.4.2'],
    [`node --no-warnings ${local}`, 'near 4.0.0'],
    ['node server.mjs /data', 'own 0.1.0'],
    ['far-server --stdio', 'far 5.0.0'],
    [join(root, 'bin', 'far-server'), 'far 5.0.0'],
  ])('%s', (line, wanted) => expect(found(line)).toBe(wanted));
});

describe('says nothing where it does not know', () => {
  it.each([
    'npx',
    'npx -y unknown',
    'npx -y mail@^1',
    'npx ../../etc',
    'npx -y https://example.com/x.tgz',
    'npx -y broken',
    'uvx mail',
    'node -e 1',
    'node missing.mjs',
    'other',
    'missing',
    'docker run mail',
  ])('%s', (line) => expect(found(line)).toBeUndefined());
});

it('shows no control characters', () => expect(found('npx -y evil')).toBe('evil 1\\u{1b}[2J\\u{202e}'));
