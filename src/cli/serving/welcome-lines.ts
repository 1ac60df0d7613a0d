// What a command prints when its port is open: its URLs, its revisions, and the lines to paste into each client.
import { UPGRADES } from '../../mcp/listen/http/upgrades.ts';
import { isIP } from 'node:net';
import { DEFAULT_PORT } from '../../config/settings.ts';
import { META } from '../../mcp/eras/meta.ts';
import { ALL_REVISIONS } from '../../mcp/eras/revisions.ts';
import { STATELESS } from '../../mcp/eras/stateless/revisions.ts';
import { version } from '../../kernel/version.ts';
import { CALL_TOOL } from '../../kernel/methods.ts';
import { programName, toLaunchCommand } from '../program.ts';
import { toCodeLink, toCursorLink } from './install-links.ts';
import type { Printer } from '../../kernel/command/printer.ts';

export interface WelcomeOptions {
  host: string;
  /** Everybody may call. */
  open?: boolean;
  /** Asked of every client. */
  token?: string | undefined;
  /** Every client needs an API key of its own. */
  asksKey?: boolean | undefined;
  port: number;
  /** Where clients and browsers reach it, if that is another address. */
  publicUrl?: string | undefined;
  scheme?: 'http' | 'https';
  /** False if the default port was taken and another one is used. */
  isChosen: boolean;
  print: Printer;
  /** After the version: "demo server". */
  title: string;
  /** Name of the entry in the client's file. */
  name: string;
  /** More lines about what is served. */
  about: string[];
  /** The command line for clients that start their servers, given the open URL. */
  program: (url: string) => ProgramStart;
  /** The client file that is served; the pasted entry must not replace its servers. */
  served?: string | undefined;
  /** The id of the client whose own file that is. */
  servedOf?: string | undefined;
  /** A tool to try with curl. */
  sample?: { tool: string; args: object };
}

export interface ProgramStart {
  /** The words after `parley`. */
  words: string[];
  /** Variables that it needs, with HIDDEN for values that are not printed. */
  env?: Record<string, string> | undefined;
}

/** Printed in place of a secret. */
export const HIDDEN = '…';

/** Printed in place of the token where the lines may end in a log. */
const TOKEN_PLACEHOLDER = 'TOKEN';

/** Printed in place of an API key, of which only the hash is kept. */
export const KEY_PLACEHOLDER = 'KEY';

const WILDCARDS = new Set(['0.0.0.0', '::', '[::]']);

export function toWelcomeLines(options: WelcomeOptions): string[] {
  const { host, port, scheme = 'http', print, title, about } = options;
  const token = options.token === undefined || print.isTerminal ? options.token : TOKEN_PLACEHOLDER;
  const bold = (text: string) => print.style('bold', text);
  const origin = `${toAddress(host)}:${port}`;
  const url = `${scheme}://${origin}/mcp`;
  const link = (text: string) => print.style('cyan', text.padEnd(url.length));
  return [
    ...notes(options).map((note) => print.style('yellow', note)),
    `${bold(`Parley ${version()}`)}, ${title}. Ctrl-C ends it.`,
    '',
    `  ${link(url)}  Streamable HTTP`,
    `  ${link(`${scheme}://${origin}/sse`)}  HTTP+SSE`,
    ...UPGRADES.map((one) => `  ${link(one.urlOf(`${scheme}://${origin}${one.path}`))}  ${one.label}`),
    '',
    ...(options.publicUrl === undefined ? [] : [`  public  ${toUrl(options)}`]),
    `  speaks  ${ALL_REVISIONS.join(', ')}`,
    ...about.map((line) => `  ${line}`),
    ...(token === undefined ? [] : [`  token   ${aboutToken(token)}`]),
    '',
    ...toEntryLines({ ...options, token }),
  ];
}

function aboutToken(token: string): string {
  const again = `${programName()} status --lines`;
  if (token !== TOKEN_PLACEHOLDER)
    return `every client must send it; the lines below contain it. To see them again: ${again}`;
  return `every client must send it. To see the lines below with it in place of ${TOKEN_PLACEHOLDER}: ${again}`;
}

/** What to paste into each client, and links that do it. */
export function toClientLines(options: WelcomeOptions): string[] {
  return [...toEntryLines(options), ...toLinkLines(options)];
}

/** A client would replace its servers, or have no key yet. */
function toLinkLines({ name, token, served, asksKey, print, ...where }: WelcomeOptions): string[] {
  if (served !== undefined || asksKey) return [];
  const entry = { name: toEntryName(name), url: toUrl(where), token };
  return [
    '',
    print.style('bold', 'Links that add it, to open in a browser'),
    `  ${toCursorLink(entry)}`,
    `  ${toCodeLink(entry)}`,
  ];
}

/** With the token in the form that the client has for headers. */
function toEntryLines(options: WelcomeOptions): string[] {
  const { print, program, sample, served, asksKey } = options;
  const token = options.token ?? (asksKey ? KEY_PLACEHOLDER : undefined);
  const name = toEntryName(options.name);
  const bold = (text: string) => print.style('bold', text);
  const url = toUrl(options);
  const { words, env = {} } = program(url);
  const hidden = Object.keys(env).filter((key) => env[key] === HIDDEN);
  const bearer = `Bearer ${token}`;
  const headers = token === undefined ? {} : { headers: { Authorization: bearer } };
  return [
    ...(asksKey
      ? [
          `Every client needs a key. In place of ${KEY_PLACEHOLDER}, write what this prints: ${programName()} key add NAME`,
          '',
        ]
      : []),
    bold('Claude Code'),
    `  claude mcp add --transport http ${name} ${url}${token === undefined ? '' : ` --header "Authorization: ${bearer}"`}`,
    '',
    bold(
      `Cursor and others, in their mcpServers file; Windsurf writes "serverUrl"${served === undefined ? '' : ` (not yet in ${served})`}`,
    ),
    `  ${toLine({ mcpServers: { [name]: { url, ...headers } } })}`,
    ...(served === undefined ? [] : keepApart(served, options.servedOf)),
    '',
    bold('Claude Desktop, in claude_desktop_config.json; it starts its servers itself'),
    `  ${toLine({ mcpServers: { [name]: { ...toLaunchCommand(words), ...(Object.keys(env).length > 0 && { env }) } } })}`,
    ...(hidden.length > 0
      ? [`  (replace ${HIDDEN} by the value of ${hidden.join(', ')}, which is not printed here)`]
      : []),
    '',
    bold('VS Code, in .vscode/mcp.json'),
    `  ${toLine({ servers: { [name]: { type: 'http', url, ...headers } } })}`,
    '',
    bold('Codex, in ~/.codex/config.toml'),
    `  [mcp_servers.${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}]`,
    `  url = ${JSON.stringify(url)}`,
    ...(token === undefined ? [] : [`  http_headers = { "Authorization" = ${JSON.stringify(bearer)} }`]),
    ...(sample ? ['', bold('Without a client')] : []),
    ...(sample ? toCurlCommand(url, sample.tool, sample.args).map((line) => `  ${line}`) : []),
  ];
}

/** A client's file cannot be both what Parley serves and where the client finds Parley. */
function keepApart(served: string, client: string | undefined): string[] {
  const connect = `${programName()} connect ${client}`;
  if (client !== undefined)
    return [`  ${served} is served here. To use Parley in its client, with these servers: ${connect}`];
  return [
    `  ${served} is served here. To use Parley in its client, too: copy its servers to parley.config.jsonc,`,
    `  run: ${programName()} serve parley.config.jsonc, then put the line above in their place.`,
  ];
}

/** Clients take letters, digits, "-" and "_". */
function toEntryName(name: string): string {
  if (isIP(name) !== 0 || name === 'localhost') return 'server';
  return name.replaceAll(/[^\w-]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'server';
}

function notes({ host, open = false, port, isChosen, scheme }: WelcomeOptions): string[] {
  const isElsewhere = !/^(localhost|127\.|\[?::1\]?$)/.test(host);
  const isPlain = isElsewhere && scheme !== 'https';
  return [
    ...(isChosen ? [] : [`Port ${DEFAULT_PORT} is taken: using ${port}.`]),
    ...(isElsewhere && open
      ? [`Open on ${host} without a login: everybody who reaches this machine can call every tool.`]
      : []),
    ...(!isElsewhere && open
      ? ['Open without a token: every program of every user of this machine can call every tool.']
      : []),
    ...(isPlain
      ? [`Listening on ${host} without TLS: others on the network can read and change everything, including keys.`]
      : []),
  ];
}

/** What clients connect to. */
function toUrl({
  publicUrl,
  scheme = 'http',
  host,
  port,
}: Pick<WelcomeOptions, 'publicUrl' | 'scheme' | 'host' | 'port'>): string {
  return `${publicUrl?.replace(/\/+$/, '') ?? `${scheme}://${toAddress(host)}:${port}`}/mcp`;
}

function toAddress(host: string): string {
  if (WILDCARDS.has(host)) return '127.0.0.1';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function toLine(value: object): string {
  // Adds spaces between keys and values, not inside of text.
  return JSON.stringify(value).replaceAll(
    /("(?:[^"\\]|\\.)*")|([:,])(?=["[{])/g,
    (found, word?: string) => word ?? `${found} `,
  );
}

/** Lines for any POSIX shell. */
function toCurlCommand(url: string, tool: string, args: object): string[] {
  const method = CALL_TOOL;
  const meta = { [META.protocolVersion]: STATELESS, [META.clientCapabilities]: {} };
  const body = { jsonrpc: '2.0', id: 1, method, params: { name: tool, arguments: args, _meta: meta } };
  const header = (name: string, value: string) => `-H '${name}: ${value}'`;
  return [
    `curl -s ${url} ${header('Content-Type', 'application/json')} \\`,
    `  ${header('MCP-Protocol-Version', STATELESS)} ${header('Mcp-Method', method)} ${header('Mcp-Name', tool)} \\`,
    `  -d '${JSON.stringify(body)}'`,
  ];
}
