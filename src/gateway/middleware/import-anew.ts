// Imports a user's file, `.ts` or JavaScript, freshly each time, with everything it imports by path. The loader is imported only when
// it is needed. Our own entries in the file are this very package, installed beside it or not: what is made there is ours.
export async function importAnew(path: string, entries: readonly string[]): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const ours = await Promise.all(entries.map(async (name) => [name, await import(name)] as const));
  // Without its caches, which would keep former versions.
  const fresh = { moduleCache: false, fsCache: false, interopDefault: false };
  const load = createJiti(path, { ...fresh, virtualModules: Object.fromEntries(ours) });
  try {
    // Not `load.import`, which leaves .mjs files to Node: Node loads each of them once in the life of a process.
    return toModule(load(path) as unknown);
  } catch (thrown) {
    if (!needsAsync(thrown)) throw thrown;
    return load.import(path);
  }
}

/** What CommonJS exports is the default export. */
function toModule(exported: unknown): unknown {
  return typeof exported === 'object' && exported !== null && '__esModule' in exported
    ? exported
    : { default: exported };
}

/** It awaits something at its top level, or imports something that does. */
function needsAsync(thrown: unknown): boolean {
  const { name, code = '' } = thrown as NodeJS.ErrnoException;
  return name === 'SyntaxError' || code.startsWith('ERR_REQUIRE_');
}

/** In one line, without the chain of files that the loader adds. */
export function whyNotImported(thrown: unknown): string {
  const [reason = ''] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\nRequire stack:');
  return reason.replaceAll(/\s+/g, ' ').trim();
}
