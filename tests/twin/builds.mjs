// The builds that are compared: this one, the last one that landed (built from git into a cache), or any folder.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'parley-twin');

export function thisBuild() {
  return { name: 'this build', dist: join(ROOT, 'dist') };
}

/** A checkout that is built, or its dist. */
export function buildAt(folder) {
  const path = resolve(folder);
  const dist = existsSync(join(path, 'dist')) ? join(path, 'dist') : path;
  if (!existsSync(join(dist, 'cli', 'main.js'))) throw new Error(`no build of parley in ${folder}`);
  return { name: folder, dist };
}

export function landedCommit() {
  return JSON.parse(readFileSync(new URL('landed.json', import.meta.url), 'utf8')).commit;
}

/** Undefined, with the reason on stderr, where the history is not there. */
export function buildOfCommit(commit) {
  const known = git(['rev-parse', '--verify', '--quiet', `${commit}^{commit}`]);
  if (known.status !== 0) {
    console.error(`The history here does not have ${commit}: this build is compared with the servers only.`);
    return undefined;
  }
  const folder = join(CACHE, known.stdout.trim().slice(0, 12));
  if (!existsSync(join(folder, 'dist', 'cli', 'main.js'))) build(known.stdout.trim(), folder);
  return { name: commit.slice(0, 8), dist: join(folder, 'dist') };
}

/** With the packages that are installed here: what a build of yesterday needs has hardly changed. */
function build(commit, folder) {
  console.error(`Building ${commit.slice(0, 12)} …`);
  const half = `${folder}.${process.pid}`;
  mkdirSync(half, { recursive: true });
  const tree = spawnSync('sh', ['-c', `git archive ${commit} | tar -x -C "$0"`, half], { cwd: ROOT, encoding: 'utf8' });
  if (tree.status !== 0) throw new Error(`git archive ${commit}: ${tree.stderr}`);
  symlinkSync(join(ROOT, 'node_modules'), join(half, 'node_modules'));
  const made = spawnSync('npm', ['run', 'build', '--silent'], { cwd: half, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`the build of ${commit} failed:\n${made.stdout}${made.stderr}`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(half, folder);
}

function git(args) {
  return spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
}
