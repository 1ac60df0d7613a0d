// Lets Node keep compiled code between runs, from 22.1 on: a third of the time until the first answer is compilation. The cache lies in
// the user's own folder, because the default one is shared with other users, who could put code into it.
import { mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

interface CompileCache {
  enableCompileCache?: (folder: string) => unknown;
}

/** Does nothing where Node has no such cache, or no folder can be made. `NODE_COMPILE_CACHE` takes precedence. */
export function keepCompiledCode(
  node: Pick<NodeJS.Process, 'versions' | 'env' | 'platform' | 'getBuiltinModule'> = process,
): void {
  const { versions, env, platform } = node;
  if (Number.parseInt(versions.node, 10) < 22 || env['NODE_COMPILE_CACHE'] || env['NODE_DISABLE_COMPILE_CACHE']) return;
  const folder = cacheFolder(env, platform);
  if (folder === undefined) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    (node.getBuiltinModule('node:module') as CompileCache).enableCompileCache?.(folder);
  } catch {
    // It only saves time.
  }
}

function cacheFolder(env: NodeJS.ProcessEnv, platform: string): string | undefined {
  const home = env['HOME'];
  const xdg = env['XDG_CACHE_HOME'];
  if (platform === 'win32') return env['LOCALAPPDATA'] && join(env['LOCALAPPDATA'], 'parley', 'compiled');
  if (xdg && isAbsolute(xdg)) return join(xdg, 'parley', 'compiled');
  if (!home) return undefined;
  return platform === 'darwin' ? join(home, 'Library', 'Caches', 'parley') : join(home, '.cache', 'parley', 'compiled');
}
