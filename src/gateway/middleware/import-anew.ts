// A user's file, `.ts` or JavaScript, imported anew each time with everything it imports by path. The loader is imported only when
// it is needed. Our own entries in the file are this very package, installed beside it or not: what is made there is ours.
export async function importAnew(path: string, entries: readonly string[]): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const ours = await Promise.all(entries.map(async (name) => [name, await import(name)] as const));
  // Without its caches, which would keep former versions.
  const fresh = { moduleCache: false, fsCache: false, interopDefault: false };
  return createJiti(path, { ...fresh, virtualModules: Object.fromEntries(ours) }).import(path);
}

/** In one line, without the chain of files that the loader adds. */
export function whyNotImported(thrown: unknown): string {
  const [reason = ''] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\nRequire stack:');
  return reason.replaceAll(/\s+/g, ' ').trim();
}
