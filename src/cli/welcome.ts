// What `parley demo` says when it is up: where it answers, what it speaks, and the lines to paste into a client.
import { fileURLToPath } from 'node:url';
import { ALL_REVISIONS } from '../gateway/dialect/revisions.ts';
import { DEFAULT_PORT } from './help.ts';
import type { Printer } from './print.ts';
import { statelessCall } from './stateless-call.ts';
import { version } from './version.ts';

export interface Welcome {
  host: string;
  port: number;
  /** False when the default port was taken and another one had to do. */
  isChosen: boolean;
  print: Printer;
}

const MAIN = new URL('main.js', import.meta.url);
const WILDCARDS = new Set(['0.0.0.0', '::', '[::]']);

export function welcome({ host, port, isChosen, print }: Welcome): string[] {
  const bold = (text: string) => print.style('bold', text);
  const origin = `${toAddress(host)}:${port}`;
  const url = `http://${origin}/mcp`;
  const link = (text: string) => print.style('cyan', text.padEnd(url.length));
  return [
    ...notes(host, port, isChosen).map((note) => print.style('yellow', note)),
    `${bold(`Parley ${version()}`)}, demo server. Ctrl-C ends it.`,
    '',
    `  ${link(url)}  Streamable HTTP`,
    `  ${link(`http://${origin}/sse`)}  HTTP+SSE`,
    `  ${link(`ws://${origin}/ws`)}  WebSocket`,
    '',
    `  speaks  ${ALL_REVISIONS.join(', ')}`,
    '  tools   add, weather, countdown, book_table, summarize; and resources, a template, a prompt',
    '',
    bold('Claude Code'),
    `  claude mcp add --transport http parley ${url}`,
    '',
    bold('Claude Desktop, Cursor and others: their mcpServers file, by URL'),
    `  ${toServers({ url })}`,
    bold('or started by the client'),
    `  ${toServers(toProgram(isInstalled()))}`,
    ...(isInstalled() ? [] : [print.style('dim', `  (installed from npm: "npx -y mcp-parley demo --stdio")`)]),
    '',
    bold('No client at hand'),
    ...statelessCall(url, 'weather', { city: 'Oslo' }).map((line) => `  ${line}`),
  ];
}

function notes(host: string, port: number, isChosen: boolean): string[] {
  const isOpen = !/^(localhost|127\.|\[?::1\]?$)/.test(host);
  return [
    ...(isChosen ? [] : [`Port ${DEFAULT_PORT} is taken: using ${port}.`]),
    ...(isOpen ? [`Listening on ${host} without TLS or login: whoever can reach this machine can call it.`] : []),
  ];
}

function toAddress(host: string): string {
  if (WILDCARDS.has(host)) return '127.0.0.1';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function toServers(server: object): string {
  return JSON.stringify({ mcpServers: { parley: server } }).replaceAll(/([:,])(?=["[{])/g, '$1 ');
}

/** An installed package is found by npx; a checkout only by its path. */
function toProgram(installed: boolean): { command: string; args: string[] } {
  if (installed) return { command: 'npx', args: ['-y', 'mcp-parley', 'demo', '--stdio'] };
  return { command: 'node', args: [fileURLToPath(MAIN), 'demo', '--stdio'] };
}

function isInstalled(): boolean {
  return MAIN.pathname.includes('/node_modules/');
}
