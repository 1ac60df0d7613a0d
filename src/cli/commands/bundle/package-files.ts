// The files of this package and of all that it needs to run, as a folder that works anywhere: the package, and its modules in `node_modules` below it.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { realPath } from '../../../kernel/files/paths.ts';
import type { ZipEntry } from './zip.ts';

/** Of the package itself. */
const OWN = ['package.json', 'LICENSE', 'dist', 'schema'];
/** What nothing loads. */
const IDLE = /\.(?:map|md|markdown|flow|[cm]?ts)$|^\./;

interface Module {
  folder: string;
  /** In the bundle. */
  at: string;
}

/** `folder`: that of this package. `root`: its place in the bundle. Optional modules stay out: they are binaries of one platform, or databases. */
export function packageFiles(folder: string, root: string): ZipEntry[] {
  const own = OWN.flatMap((name) => filesOf(join(folder, name), posix.join(root, name)));
  const modules = modulesOf({ folder: realPath(folder), at: root }, root);
  return [...own, ...modules.flatMap((module) => filesOf(module.folder, module.at))];
}

/** Each once, as high as it can be: of two versions of one module, the second is below the one that needs it. */
function modulesOf(first: Module, root: string): Module[] {
  const placed = new Map<string, string>();
  const found: Module[] = [];
  const waiting = [first];
  for (let module = waiting.shift(); module; module = waiting.shift()) {
    for (const name of neededBy(module.folder)) {
      const folder = findModule(name, module.folder);
      const places = [posix.join(root, 'node_modules', name), posix.join(module.at, 'node_modules', name)];
      const at = places.find((place) => (placed.get(place) ?? folder) === folder)!;
      if (placed.has(at)) continue;
      placed.set(at, folder);
      found.push({ folder, at });
      waiting.push({ folder, at });
    }
  }
  return found;
}

function neededBy(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  return Object.keys(dependencies);
}

/** As Node finds it. */
function findModule(name: string, from: string): string {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return realPath(folder);
  if (dirname(from) === from) throw new Error(`the module ${name} is not installed`);
  return findModule(name, dirname(from));
}

function filesOf(path: string, at: string): ZipEntry[] {
  const entries = foldersEntries(path);
  if (!entries) return [{ path: at, content: readFileSync(path) }];
  return entries
    .filter(({ name }) => name !== 'node_modules' && !IDLE.test(name))
    .flatMap(({ name }) => filesOf(join(path, name), posix.join(at, name)));
}

/** Undefined for a file. */
function foldersEntries(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw thrown;
  }
}
