// The environment of a wrapped command: all of ours. The client that starts `parley wrap` has put there what the server needs,
// as it would have for the server itself. What every child process gets anyway is left out, and so is what only a shell uses.
import { safeEnv } from '../../gateway/upstream/links/safe-env.ts';

const OF_THE_SHELL = new Set(['PWD', 'OLDPWD', 'SHLVL', '_']);

export function toInheritedEnv(given: Record<string, string> = {}, ours = process.env): Record<string, string> {
  const anyway = safeEnv({}, ours);
  const more = Object.entries(ours).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !(entry[0] in anyway) && !OF_THE_SHELL.has(entry[0]) && !entry[1].startsWith('()'),
  );
  return { ...Object.fromEntries(more), ...given };
}
