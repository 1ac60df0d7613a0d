// Disables entries that must not be served: the gateway itself, and broken entries in another client's file. The other servers of the file
// run without them.
import type { Environment } from '../read/find-config.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../settings.ts';
import { describeOwnEntry } from './own-entry.ts';
import type { OwnAddress } from './own-entry.ts';
import type { ConfigPath } from '../read/source-positions.ts';
import type { ConfigProblems } from '../check/config-problems.ts';
import { BLOCKS } from '../check/schema.ts';
import type { ConfigInput, ListenInput } from '../check/schema.ts';
import { listServers } from '../check/validate-config.ts';

export interface OmitContext {
  /** Path of the file. */
  path: string;
  problems: ConfigProblems;
  environment: Environment;
  own: ((listen: { host: string; port: number | undefined }) => OwnAddress) | undefined;
}

/** For a user who has put the gateway into a client's file, in place of the servers that it should serve from there. */
const KEEP_APART =
  'Keep the servers in a file of Parley: write them to parley.config.jsonc, { "mcpServers": { … } }, serve that one, and let the entry here lead to it.';

/** A gateway must not be one of its own servers. */
export function omitOwnEntries(input: ConfigInput, { path, problems, environment, own }: OmitContext): ConfigPath[] {
  const listen: ListenInput = typeof input.listen === 'number' ? { port: input.listen } : (input.listen ?? {});
  const { host = DEFAULT_HOST, port = listen.stdio ? undefined : DEFAULT_PORT } = listen;
  const address = own ? { ...own({ host, port }), publicUrl: input.publicUrl } : {};
  const left: ConfigPath[] = [];
  for (const { server, path: at } of listServers(input)) {
    const what = server.disabled ? undefined : describeOwnEntry(server, { ...environment, path, address });
    if (what === undefined) continue;
    const hint = 'It is left out: it belongs into the files of clients.';
    problems.ofKey(at, { message: what, hint, level: 'warning' });
    switchOff(input, at);
    left.push(at);
  }
  if (left[0] && listServers(input).every(({ server }) => server.disabled)) {
    problems.error([left[0][0]!], 'nothing is left to serve but the gateway itself', KEEP_APART);
  }
  return left;
}

/**
 * Other clients start the good servers of their file even if one is broken, and so does Parley. If none is left, the errors stay, as there
 * is nothing to serve.
 */
export function omitBrokenServers(
  written: Record<string, unknown>,
  input: ConfigInput,
  problems: ConfigProblems,
): ConfigPath[] {
  const entries = BLOCKS.flatMap((block) => Object.keys(written[block] ?? {}).map((name): ConfigPath => [block, name]));
  const broken = entries.filter((at) => problems.hasErrorsAt(at));
  const isServed = listServers(input).some(({ server, path }) => !server.disabled && !broken.some(isSame(path)));
  if (!isServed) return [];
  for (const at of broken) {
    problems.forgiveAt(at, `The server "${at[1]}" is left out until this is corrected.`);
    switchOff(input, at);
  }
  return broken.filter((at) => listServers(input).some(({ path }) => isSame(at)(path)));
}

function isSame([block, name]: ConfigPath): (other: ConfigPath) => boolean {
  return (other) => other[0] === block && other[1] === name;
}

/** An entry without the right shape has been dropped already. */
function switchOff(input: ConfigInput, path: ConfigPath): void {
  const [block, name] = path as [(typeof BLOCKS)[number], string];
  const { server } = listServers(input).find((one) => isSame(path)(one.path)) ?? {};
  if (server) input[block]![name] = { ...server, disabled: true };
}
