// Recognizes entries that are the gateway itself: its own URL, or a command that serves the same file. Users paste such an entry into the
// file they serve, and a gateway that connected to it would call itself without end.
import { networkInterfaces, hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { findConfig } from '../read/find-config.ts';
import type { Environment } from '../read/find-config.ts';
import type { ServerInput } from '../check/schema.ts';
import { realPath } from '../../shared/files/paths.ts';

/** Where the gateway listens; undefined if it does not listen yet. */
export interface OwnAddress {
  host?: string | undefined;
  port?: number | undefined;
  publicUrl?: string | undefined;
}

export interface OwnGateway extends Environment {
  /** The configuration file. */
  path: string;
  address: OwnAddress;
}

/** Describes what the entry is; undefined if it is another server. */
export function describeOwnEntry(server: ServerInput, own: OwnGateway): string | undefined {
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

const TAKES_VALUE = /^--(port|host|log|config)$/;

function isOwnFile(words: string[], { cwd }: ServerInput, own: OwnGateway): boolean {
  const folder = cwd === undefined ? own.cwd : resolve(dirname(own.path), cwd);
  const named = words.find((word, index) => !word.startsWith('-') && !TAKES_VALUE.test(words[index - 1] ?? ''));
  const { path } = findConfig(named, { ...own, cwd: folder });
  return path !== undefined && isSameFile(path, own.path, folder);
}

function isSameFile(one: string, other: string, folder: string): boolean {
  return realPath(resolve(folder, one)) === realPath(resolve(folder, other));
}
