// How this program was started, so that messages and the lines to paste into a client start the same one again. Installed by npx there
// is no command `parley`, and `npx parley` would fetch another package.
import { readFileSync, realpathSync } from 'node:fs';

/** `parley`, `mcp-parley`, `npx parley` (in a project that has it) or `npx mcp-parley`: as a person would type it again. */
export function programName(started = process.argv[1] ?? ''): string {
  const path = started.replaceAll('\\', '/');
  if (isFetched(path)) return `npx ${fetchedAs(path)}`;
  const name = /(?:^|\/)(mcp-parley|parley)(?:\.\w+)?$/.exec(path)?.[1] ?? 'parley';
  return path.includes('/node_modules/') ? `npx ${name}` : name;
}

/** How a client starts it, which runs in another folder: by the file itself, unless that is one of npx, which removes it some day. */
export function toLaunchCommand(words: string[], started = process.argv[1] ?? ''): { command: string; args: string[] } {
  const path = started.replaceAll('\\', '/');
  const main = real(started);
  const isLinked = !/[\\/]node_modules[\\/]/.test(main); // npx of a folder runs what is there
  if (isFetched(path) && !isLinked) return { command: 'npx', args: ['-y', fetchedAs(path), ...words] };
  return { command: 'node', args: [main, ...words] };
}

/** By npx, or by what pnpm and Bun have in its place. */
function isFetched(path: string): boolean {
  return /\/_npx\/|\/dlx-|\/bunx-/.test(path);
}

/** With the version that was asked for; npx notes it beside what it has fetched. */
function fetchedAs(path: string): string {
  const [folder] = /^.*\/_npx\/[^/]+/.exec(path) ?? [];
  try {
    const noted = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { _npx?: { packages?: unknown[] } };
    const [asked, ...others] = noted._npx?.packages ?? [];
    return typeof asked === 'string' && others.length === 0 && /^mcp-parley(@|$)/.test(asked) ? asked : 'mcp-parley';
  } catch {
    return 'mcp-parley'; // another version of npx, or not npx at all
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
