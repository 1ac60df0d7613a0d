// Disables entries that must not be served: the gateway itself, and broken entries in another client's file. The other servers of the file
// run without them.
import { networkInterfaces, hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { realPath } from '../../kernel/files/paths.ts';
import type { ConfigPath, ConfigProblems } from '../check/config-problems.ts';
import { BLOCKS } from '../check/schema.ts';
import type { ConfigInput, ListenInput } from '../check/schema.ts';
import type { ServerInput } from '../check/server-shape.ts';
import { listServers } from '../check/named-server.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../settings.ts';
import { findConfig } from './find-config.ts';
import type { Environment } from './find-config.ts';

/** Where the gateway listens; undefined if it does not listen yet. */
export interface OwnAddress {
  host?: string | undefined;
  port?: number | undefined;
  publicUrl?: string | undefined;
}

interface OmitContext {
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

interface OwnGateway extends Environment {
  /** The configuration file. */
  path: string;
  address: OwnAddress;
}

/**
 * Recognizes entries that are the gateway itself: its own URL, or a command that serves the same file. Users paste such an entry into the file
 * they serve, and a gateway that connected to it would call itself without end. Undefined if it is another server.
 */
function describeOwnEntry(server: ServerInput, own: OwnGateway): string | undefined {
  const url = server.url ?? server.serverUrl ?? server.httpUrl;
  if (url !== undefined) return isOwnUrl(url, own.address) ? 'this is the URL of the gateway itself' : undefined;
  const words = parleyWords(server);
  if (!words) return undefined;
  const [command, ...rest] = words;
  if (command === 'wrap' && rest.some((word) => isOwnUrl(word, own.address))) {
    return 'this command leads back to the gateway itself';
  }
  return command === 'serve' && isOwnFile(rest, server, own) ? 'this command serves the same file again' : undefined;
}

/** An entry of any client that leads to Parley: by its command, or by the port that it has unless the user chose another one. */
export function isParleyEntry(server: ServerInput): boolean {
  const url = server.url ?? server.serverUrl ?? server.httpUrl;
  if (url !== undefined) return isOwnUrl(url, { host: DEFAULT_HOST, port: DEFAULT_PORT });
  const { command = '', args = [] } = server;
  const words = [command, ...args].map(String);
  const at = words.findIndex((word) => isParley(word) || /[\\/]cli[\\/]main\.[jt]s$/.test(word)); // of any installation
  return at !== -1 && words[at + 1] === 'serve';
}

function isOwnUrl(text: string, { host, port, publicUrl }: OwnAddress): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (publicUrl !== undefined && URL.canParse(publicUrl) && new URL(publicUrl).host === url.host) return true;
  if (port === undefined || host === undefined || portOf(url) !== port) return false;
  const name = bare(url.hostname);
  if (name === bare(host) || (isLoopback(name) && isLoopback(bare(host)))) return true;
  return isWildcard(bare(host)) && (isLoopback(name) || isWildcard(name) || ownNames().has(name));
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return /^(https|wss):$/.test(protocol) ? 443 : 80;
}

function bare(host: string): string {
  return host.replaceAll(/[[\]]/g, '').toLowerCase();
}

function isLoopback(name: string): boolean {
  return /^(localhost|.*\.localhost|127\.[\d.]+|::1|::ffff:127\.[\d.]+|::ffff:7f[\da-f]{2}:[\da-f]{1,4})$/.test(name);
}

function isWildcard(name: string): boolean {
  return name === '0.0.0.0' || name === '::';
}

function ownNames(): Set<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  return new Set([hostname(), `${hostname()}.local`, ...addresses].map(bare));
}

/** The words after `parley`, if the command runs it directly or through another program. */
function parleyWords({ command = '', args = [] }: ServerInput): string[] | undefined {
  const words = [command, ...args.filter((word) => word !== undefined)]; // one that is not text has been reported
  const at = words.findIndex((word, index) => isParley(word) && words.slice(1, index).every(isOfRunner));
  return at === -1 ? undefined : words.slice(at + 1);
}

/** The command, its package with or without a version, or the main file of the package. */
function isParley(word: string): boolean {
  const last = word.split(/[\\/]/).at(-1)!;
  if (/^(mcp-)?parley(@[\w.^~-]+)?(\.cmd|\.exe)?$/i.test(last)) return true;
  return /[\\/]cli[\\/]main\.[jt]s$/.test(word) && isSameFile(word, process.argv[1] ?? '', '/');
}

/** Options and verbs of npx, pnpm, node and similar programs. */
function isOfRunner(word: string): boolean {
  return word.startsWith('-') || /^(exec|dlx|x|run|tool)$/.test(word) || /[\\/]node_modules[\\/]/.test(word);
}

const TAKES_VALUE = /^--(port|host|log|share|config)$/;

function isOwnFile(words: string[], { cwd }: ServerInput, own: OwnGateway): boolean {
  const folder = cwd === undefined ? own.cwd : resolve(dirname(own.path), cwd);
  const named = words.filter((word, index) => !word.startsWith('-') && !TAKES_VALUE.test(words[index - 1] ?? ''));
  return (named.length === 0 ? [undefined] : named).some((one) => {
    const { path } = findConfig(one, { ...own, cwd: folder });
    return path !== undefined && isSameFile(path, own.path, folder);
  });
}

function isSameFile(one: string, other: string, folder: string): boolean {
  return realPath(resolve(folder, one)) === realPath(resolve(folder, other));
}
