// How this program was started, so that messages and the lines to paste start the same program. With npx there is no command `parley`, and
// `npx parley` would fetch another package.
import { readFileSync } from 'node:fs';
import { realPath } from '../kernel/files/paths.ts';

/** `parley`, `mcp-parley`, `npx parley` (in a project that has it) or `npx mcp-parley`, as the user would type it. */
export function programName(started = process.argv[1] ?? ''): string {
  const path = started.replaceAll('\\', '/');
  if (isFetched(path)) return `npx ${fetchedAs(path)}`;
  const name = /(?:^|\/)(mcp-parley|parley)(?:\.\w+)?$/.exec(path)?.[1] ?? 'parley';
  return path.includes('/node_modules/') ? `npx ${name}` : name;
}

/** How a client in another folder starts this program: by its file, except for files of npx, which npx removes some day. */
export function toLaunchCommand(words: string[], started = process.argv[1] ?? ''): { command: string; args: string[] } {
  const path = started.replaceAll('\\', '/');
  const main = realPath(started);
  const isLinked = !/[\\/]node_modules[\\/]/.test(main); // npx of a local folder runs the files there
  if (isFetched(path) && !isLinked) return { command: 'npx', args: ['-y', fetchedAs(path), ...words] };
  return { command: 'node', args: [main, ...words] };
}

/** Fetched by npx, or by its counterparts in pnpm and Bun. */
function isFetched(path: string): boolean {
  return /\/_npx\/|\/dlx-|\/bunx-/.test(path);
}

/** The requested version, which npx writes next to what it fetched. */
function fetchedAs(path: string): string {
  const [folder] = /^.*\/_npx\/[^/]+/.exec(path) ?? [];
  try {
    const noted = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { _npx?: { packages?: unknown[] } };
    const [asked, ...others] = noted._npx?.packages ?? [];
    return typeof asked === 'string' && others.length === 0 && /^mcp-parley(@|$)/.test(asked) ? asked : 'mcp-parley';
  } catch {
    return 'mcp-parley'; // another version of npx, or not npx
  }
}
