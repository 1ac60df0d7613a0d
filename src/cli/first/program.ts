// How this program was started, so that messages can say what to type next. Installed by npx there is no command `parley`, and
// `npx parley` would fetch another package.
import { realpathSync } from 'node:fs';

/** `parley`, `mcp-parley`, `npx parley` (in a project that has it) or `npx mcp-parley`: as a person would type it again. */
export function program(started = process.argv[1] ?? ''): string {
  const path = started.replaceAll('\\', '/');
  if (/\/_npx\/|\/dlx-|\/bunx-/.test(path)) return 'npx mcp-parley';
  const name = /(?:^|\/)(mcp-parley|parley)(?:\.\w+)?$/.exec(path)?.[1] ?? 'parley';
  return path.includes('/node_modules/') ? `npx ${name}` : name;
}

/** How a client starts it: an installed package is found by npx, a checkout only by its path. */
export function programOf(words: string[], started = process.argv[1] ?? ''): { command: string; args: string[] } {
  const main = real(started);
  if (/[\\/]node_modules[\\/]/.test(main)) return { command: 'npx', args: ['-y', 'mcp-parley', ...words] };
  return { command: 'node', args: [main, ...words] };
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
