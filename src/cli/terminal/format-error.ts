// Formats errors for the terminal: what happened and what to do.
import type { CommandAddress, UrlAddress } from '../../mcp/connect/address.ts';
import { GatewayError, ProtocolError, messageOf } from '../../kernel/base/errors.ts';

const INTERNAL_ERROR = -32603;

export function formatError(thrown: unknown): string {
  if (thrown instanceof GatewayError) {
    const { server, reason } = thrown.details;
    return `${sentence(thrown.message)} ${hintForPath(String(reason), String(server)) ?? thrown.row.hint}`;
  }
  if (thrown instanceof ProtocolError && isInternal(thrown)) {
    return `${whatFailed(thrown)}. The log of the gateway says why${idIn(thrown)}.`;
  }
  if (isGatewayError(thrown)) return sentence((thrown as Error).message);
  if (thrown instanceof ProtocolError) return `the server refused (${thrown.code}): ${sentence(thrown.message)}`;
  return sentence(messageOf(thrown));
}

/** A Parley gateway adds an exchange id to errors that are neither the client's fault nor a server's answer. */
export function isGatewayError(thrown: unknown): boolean {
  return thrown instanceof ProtocolError && idIn(thrown) !== '';
}

/** A gateway uses this message to hide internal details. */
function isInternal({ code, message }: ProtocolError): boolean {
  return code === INTERNAL_ERROR && message === 'Internal error';
}

function whatFailed({ data, message }: ProtocolError): string {
  const { step } = (data ?? {}) as { step?: unknown };
  return typeof step === 'string' ? `step ${step} of the gateway failed` : `it failed inside: ${message}`;
}

function idIn({ data }: ProtocolError): string {
  const { exchange } = (data ?? {}) as { exchange?: unknown };
  return typeof exchange === 'string' ? ` (exchange ${exchange})` : '';
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

interface StartFailure {
  server: CommandAddress | UrlAddress;
  /** Undefined if it is still starting. */
  reason: string | undefined;
  waitedMs: number;
  /** The end of its stderr. */
  stderr: string;
  /** It wrote something else than messages to stdout. */
  isGarbled: boolean;
  /** The first such line, made safe to print. */
  garbage?: string | undefined;
  /** The command has the options of `ls` and `call`, not those of `wrap`. */
  isOnce?: boolean | undefined;
}

/** Why a server did not start, for the terminal and for the error that answers `initialize`. */
export function explainStartFailure({ server, reason, waitedMs, isOnce = false, ...written }: StartFailure): string {
  if (reason === undefined) {
    const said = 'url' in server ? '' : ` ${toWords(written)}.`;
    const did = 'url' in server ? 'answer' : 'start';
    return `The server did not ${did} within ${waitedMs / 1000} s.${said} ${hintFor('did not answer', server, isOnce)}`;
  }
  const plain = reason
    .replace(/^(?:Cannot reach|The connection to) [^:]+?(?: closed)?: (?!\/\/)/, '')
    .replace(/^Cannot reach (?=\w+:\/\/)/, '');
  const what = 'url' in server ? 'The server cannot be reached' : 'The server could not be started';
  return `${what}: ${plain.replace(/[^.?]$/, '$&.')} ${hintFor(reason, server, isOnce)}`;
}

function toWords({ stderr, isGarbled, garbage }: Pick<StartFailure, 'stderr' | 'isGarbled' | 'garbage'>): string {
  const words = stderr === '' ? 'It wrote nothing to stderr' : `It last wrote to stderr: ${stderr}`;
  return isGarbled
    ? `It wrote to stdout what is not an MCP message${garbage === undefined ? '' : `: ${garbage}`}. ${words}`
    : words;
}

function hintFor(reason: string, server: CommandAddress | UrlAddress, isOnce: boolean): string {
  if ('url' in server) return hintForUrl(reason, String(server.url));
  const line = commandLine(server);
  if (/command not found/.test(reason)) {
    const why = isOnce ? '.' : ': the PATH that a client passes on may lack what your shell has.';
    return `Check its spelling, or give its full path${why}`;
  }
  if (/not allowed to run|working directory/.test(reason))
    return 'Correct the permission or the folder, then start it again.';
  if (/did not answer/.test(reason)) {
    return `It may wait for input, not serve stdio, or be slow. Run it by itself (${line}), or raise --${isOnce ? 'timeout' : 'start-timeout'}.`;
  }
  if (/no revision in common/.test(reason)) return 'Leave out --revision, or update the server.';
  const more = isOnce ? '' : ' Give it variables with --env NAME=value.';
  return `Run it by itself to see what it lacks: ${line}.${more}`;
}

function hintForUrl(reason: string, url: string): string {
  if (/needs a login|The login at/.test(reason)) return 'See docs/logins.md.';
  if (/credentials|HTTP 40[13]/.test(reason)) return 'Give its token: --header "Authorization: Bearer …".';
  if (/no revision in common/.test(reason)) return 'Leave out --revision, or update the server.';
  return hintForPath(reason, url) ?? 'Check the URL, and that the server runs.';
}

function commandLine({ command, args = [] }: CommandAddress): string {
  return [command, ...args].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}

/** Advice for the most common mistake in URLs, the missing path; undefined if that is not the reason. */
function hintForPath(reason: string, url: string): string | undefined {
  if (!/HTTP 404/.test(reason) || !URL.canParse(url)) return undefined;
  const { pathname, origin } = new URL(url);
  if (/\/(mcp|sse)\b/.test(pathname)) return undefined;
  return `Most servers answer at /mcp: try ${origin}${pathname.replace(/\/$/, '')}/mcp.`;
}
