// The environment of a wrapped command: all of this process, as the client set it up for the server. Leaves out what every child process
// gets anyway and what only a shell uses.
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
