// Checks the names of servers, and the keys of one server against each other. Problems never repeat values of variables, headers and URLs,
// which may be secrets.
import { CONFINEMENT_KEYS } from '../../mcp/connect/confinement-keys.ts';
import { linksOf, onlyLinkOf, schemesWith } from '../../mcp/connect/url-links.ts';
import { eraOf, isSameEra } from '../../mcp/eras/revisions.ts';
import { toPathId } from './config-problems.ts';
import type { ConfigPath, ConfigProblems } from './config-problems.ts';
import { TRANSPORTS } from './server-shape.ts';
import type { ServerInput } from './server-shape.ts';

interface ServerCheck {
  server: ServerInput;
  /** The entry as written, including what did not match its shape. */
  written: unknown;
  path: ConfigPath;
  problems: ConfigProblems;
  /** Paths of text with unset variables. */
  missing: ReadonlySet<string>;
}

const URL_KEYS = ['url', 'serverUrl', 'httpUrl'] as const;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

export function checkServer(check: ServerCheck): void {
  const { server } = check;
  const given = URL_KEYS.filter((key) => server[key] !== undefined);
  if (!isAddressed(check.written)) refuseNeither(check);
  if (server.command !== undefined && given.length > 0) {
    const hint = 'Keep the command, or the URL, or make two servers of it.';
    check.problems.error(check.path, `both "command" and "${given[0]}" are given`, hint);
  }
  for (const key of given) checkUrl(check, key);
  if (new Set(given.map((key) => server[key])).size > 1) {
    check.problems.error(check.path, `${given.map((key) => `"${key}"`).join(' and ')} differ`, 'Keep one of them.');
  }
  checkTransport(check);
  checkEra(check);
  checkHeaders(check);
  checkEnv(check);
  checkIdle(check);
  checkTimeout(check);
  checkPlacement(check);
}

function isAddressed(written: unknown): boolean {
  return typeof written !== 'object' || ['command', ...URL_KEYS].some((key) => Object.hasOwn(written ?? {}, key));
}

function refuseNeither({ server, path, problems }: ServerCheck): void {
  const wantsUrl = wordOf(server) !== undefined && wordOf(server) !== 'stdio';
  const hint = wantsUrl ? 'Add "url".' : 'Add "command" (with "args"), or "url".';
  problems.error(path, 'neither "command" nor "url" is given', hint);
}

function checkUrl({ server, path, problems, missing }: ServerCheck, key: (typeof URL_KEYS)[number]): void {
  const at = [...path, key];
  const text = server[key]!;
  if (missing.has(toPathId(at))) return;
  const word = wordOf(server);
  const scheme = URL.canParse(text) ? new URL(text).protocol : undefined;
  const hint = 'Write it in full, such as https://example.com/mcp.';
  if (scheme === undefined) problems.error(at, 'this is not a URL', hint);
  else if (linksOf(scheme).length === 0) problems.error(at, `${scheme}// is not ${schemesWith('://')}`, hint);
  else if (word !== undefined && ![undefined, TRANSPORTS[word]].includes(onlyLinkOf(scheme)?.transport)) {
    problems.error(at, `${scheme}// and "${word}" do not fit`, 'Leave out the type: the URL says it.');
  }
}

function checkTransport({ server, path, problems }: ServerCheck): void {
  const { type, transport, command } = server;
  if (type !== undefined && transport !== undefined && TRANSPORTS[type] !== TRANSPORTS[transport]) {
    problems.error([...path, 'transport'], '"type" and "transport" differ', 'Keep one of them.');
  }
  const word = wordOf(server);
  if (word === undefined) return;
  const at = [...path, type === undefined ? 'transport' : 'type'];
  const hint = 'Leave it out: "command" and "url" say it.';
  if (command !== undefined && word !== 'stdio') problems.error(at, `a command does not speak "${word}"`, hint);
  if (command === undefined && word === 'stdio' && URL_KEYS.some((key) => server[key] !== undefined)) {
    problems.error(at, 'a URL does not speak "stdio"', hint);
  }
}

function checkEra({ server: { era, revision }, path, problems }: ServerCheck): void {
  if (era === undefined || revision === undefined || isSameEra(era, eraOf(revision))) return;
  problems.error([...path, 'era'], `"${revision}" is of the era ${eraOf(revision)}`, 'Keep one of the two keys.');
}

function checkHeaders({ server, path, problems }: ServerCheck): void {
  for (const [name, value] of Object.entries(server.headers ?? {})) {
    const at = [...path, 'headers', name];
    if (!TOKEN.test(name))
      problems.ofKey(at, { message: 'this is not a valid name of a header', hint: 'Such as X-Api-Key.' });
    // eslint-disable-next-line no-control-regex -- these are what must not be in it
    if (/[\0\r\n]/.test(value)) problems.error(at, 'a header cannot hold a line break', 'Cut it from the variable.');
  }
}

function checkEnv({ server, path, problems }: ServerCheck): void {
  for (const [name, value] of Object.entries(server.env ?? {})) {
    const at = [...path, 'env', name];
    if (name === '' || /[=\0]/.test(name)) {
      problems.ofKey(at, {
        message: 'this is not a valid name of a variable',
        hint: 'Letters, digits and _ are safe.',
      });
    }
    if (value.includes('\0')) problems.error(at, 'a variable cannot hold a NUL', 'Remove it.');
  }
}

function checkPlacement({ server: { placement, share, command }, path, problems }: ServerCheck): void {
  if (placement !== 'one') return;
  const at = [...path, 'placement'];
  if (command === undefined) problems.error(at, 'only a command has "placement": "one"', 'Remove it.');
  if (share === 'session') {
    problems.error(at, 'one process cannot have "share": "session"', 'Remove one of the two keys.');
  }
}

const FOR_COMMAND = [
  'placement',
  'args',
  'cwd',
  'data',
  'envFile',
  ...Object.keys(CONFINEMENT_KEYS),
] as (keyof ServerInput)[];

/** Warns about keys that have no effect. */
function checkIdle({ server, path, problems }: ServerCheck): void {
  if (!URL_KEYS.some((key) => server[key] !== undefined) && server.command === undefined) return;
  const idle = server.command === undefined ? FOR_COMMAND : (['headers', 'auth'] as const);
  const wanted = server.command === undefined ? 'a command' : 'a URL';
  for (const key of idle) {
    const at = [...path, key];
    const message = `only ${wanted} has "${key}"`;
    if (server[key] !== undefined) problems.ofKey(at, { message, hint: 'Remove it.', level: 'warning' });
  }
}

function checkTimeout({ server: { timeout, timeoutMs }, path, problems }: ServerCheck): void {
  if (timeout === undefined) return;
  const at = [...path, 'timeout'];
  if (timeout < 1000) problems.warn(at, 'this is under a second, and ignored', 'It is milliseconds: use "timeoutMs".');
  if (timeoutMs !== undefined) problems.warn(at, '"timeoutMs" is given too, and counts', 'Remove this one.');
}

function wordOf({ type, transport }: ServerInput): string | undefined {
  return type ?? transport;
}

/** Leaves room for the name of the tool. */
const MAX_LENGTH = 48;

/**
 * Names are the prefix of tool names (`server__tool`: letters, digits, _ and -, at most 64) and part of the path /mcp/<name>, so they use the same
 * characters: "My Server" → "My-Server", "io.github.me/thing" → "io-github-me-thing".
 */
export function toServerName(written: string): string {
  const plain = written.replaceAll(/[^\w-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return plain === '' ? fromOtherScript(written) : plain;
}

/** "мой" → "xn--i1abb", as in host names: a standard spelling in these letters. */
function fromOtherScript(written: string): string {
  const word = written.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '');
  const url = `http://${word}`;
  return word !== '' && URL.canParse(url) ? new URL(url).hostname : '';
}

/** Reports unusable names, and two names that become the same. */
export function checkServerNames(paths: readonly ConfigPath[], problems: ConfigProblems): void {
  const known = new Map<string, string>();
  for (const path of paths) {
    const written = String(path.at(-1));
    const name = toServerName(written);
    const first = known.get(name);
    known.set(name, first ?? written);
    const trouble = first === undefined ? troubleWith(name) : `this is the same name as "${first}"`;
    if (trouble !== undefined) problems.ofKey(path, { message: trouble, hint: 'Give it another name.' });
  }
}

function troubleWith(name: string): string | undefined {
  if (name === '') return 'a name needs letters or digits';
  if (name.includes('__')) return 'a name cannot contain "__": it separates a server from its tool';
  return name.length > MAX_LENGTH ? `a name has at most ${MAX_LENGTH} characters` : undefined;
}
