// Imports a user's TypeScript or JavaScript file and everything it imports by path, without caching. The loader itself is
// imported on first use. Imports of Parley in the file resolve to this running package, whether or not it is installed next to the
// file.
import { messageOf } from '../base/errors.ts';
export async function importFresh(path: string, entries: readonly string[]): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const ours = await Promise.all(entries.map(async (name) => [name, await import(name)] as const));
  // Without caches, which would keep former versions; with interop, because parts of Node lack a default export otherwise.
  const fresh = { moduleCache: false, fsCache: false, interopDefault: true };
  const load = createJiti(path, { ...fresh, virtualModules: Object.fromEntries(ours) });
  try {
    // Not `load.import`, which leaves .mjs files to Node, and Node loads each only once per process.
    return toModule(load(path) as unknown);
  } catch (thrown) {
    if (!needsAsync(thrown)) throw thrown;
    return toExports((await load.import(path)) as object);
  }
}

/** The exports of a CommonJS file become the default export. */
function toModule(exported: unknown): unknown {
  const isModule = typeof exported === 'object' && exported !== null && Object.hasOwn(exported, '__esModule');
  return isModule ? toExports(exported) : { default: exported };
}

/** Drops the default export that the loader's interop invents. */
function toExports(module: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(module).map((name) => [name, (module as Record<string, unknown>)[name]]));
}

/** Whether the file or one of its imports uses top-level await, which may also look like a syntax error. */
function needsAsync(thrown: unknown): boolean {
  const { name, message, code = '' } = thrown as NodeJS.ErrnoException;
  return name === 'SyntaxError' || message === 'await is not defined' || code.startsWith('ERR_REQUIRE_');
}

/** In one line, without the loader's list of files. */
export function describeImportError(thrown: unknown): string {
  const [reason = ''] = messageOf(thrown).split('\nRequire stack:');
  return reason.replaceAll(/\s+/g, ' ').trim();
}
