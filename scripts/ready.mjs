// Makes a fresh checkout runnable: installs and builds what is missing or stale, and says so. Needs only Node and npm;
// imports nothing from node_modules. Everything is told on stderr, so that stdout stays free for a stdio server.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => join(root, ...parts);

if (!nodeIsNewEnough()) fail(`Parley needs Node 20.19 or later; this is ${process.version}.`);
if (installIsStale()) run('Installing dependencies', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
if (buildIsStale()) run('Building', ['run', 'build', '--silent']);

function nodeIsNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19);
}

function installIsStale() {
  const installed = at('node_modules', '.package-lock.json');
  return !existsSync(installed) || modified(at('package-lock.json')) > modified(installed);
}

function buildIsStale() {
  const built = at('dist', '_entries', 'index.js');
  const made = [newest(at('src')), modified(at('tsconfig.json')), newest(at('scripts'))];
  return !existsSync(built) || Math.max(...made) > modified(built);
}

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : modified(path));
  }
  return latest;
}

function modified(path) {
  return statSync(path).mtimeMs;
}

function run(what, args) {
  process.stderr.write(`parley: ${what} (npm ${args[0] === 'run' ? args.slice(0, 2).join(' ') : args[0]}) …\n`);
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status, error } = spawnSync(npm, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) fail(`${what} failed${error ? `: ${error.message}` : ''}. Run "npm ${args.join(' ')}" to see why.`);
}

function fail(reason) {
  process.stderr.write(`parley: ${reason}\n`);
  process.exit(1);
}
