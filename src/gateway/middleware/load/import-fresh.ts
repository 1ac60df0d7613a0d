// Imports a user's file, `.ts` or JavaScript, freshly each time, with everything it imports by path. The loader is imported only when
// it is needed. Our own entries in the file are this very package, installed beside it or not: what is made there is ours.
export async function importFresh(path: string, entries: readonly string[]): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const ours = await Promise.all(entries.map(async (name) => [name, await import(name)] as const));
  // Without its caches, which would keep former versions. With its interop: else parts of Node have no default export.
  const fresh = { moduleCache: false, fsCache: false, interopDefault: true };
  const load = createJiti(path, { ...fresh, virtualModules: Object.fromEntries(ours) });
  try {
    // Not `load.import`, which leaves .mjs files to Node: Node loads each of them once in the life of a process.
    return toModule(load(path) as unknown);
  } catch (thrown) {
    if (!needsAsync(thrown)) throw thrown;
    return toExports((await load.import(path)) as object);
  }
}

/** What CommonJS exports is the default export. */
function toModule(exported: unknown): unknown {
  const isModule = typeof exported === 'object' && exported !== null && Object.hasOwn(exported, '__esModule');
  return isModule ? toExports(exported) : { default: exported };
}

/** Without the default export that the loader's interop makes up where there is none. */
function toExports(module: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(module).map((name) => [name, (module as Record<string, unknown>)[name]]));
}

/** It awaits something at its top level, or imports something that does. What is awaited may look like an argument of a function. */
function needsAsync(thrown: unknown): boolean {
  const { name, message, code = '' } = thrown as NodeJS.ErrnoException;
  return name === 'SyntaxError' || message === 'await is not defined' || code.startsWith('ERR_REQUIRE_');
}

/** In one line, without the chain of files that the loader adds. */
export function describeImportError(thrown: unknown): string {
  const [reason = ''] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\nRequire stack:');
  return reason.replaceAll(/\s+/g, ' ').trim();
}
