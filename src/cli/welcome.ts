// What a command says when its port is open: where it answers, what it speaks, and the lines to paste into a client.
import { fileURLToPath } from 'node:url';
import { ALL_REVISIONS } from '../gateway/dialect/revisions.ts';
import { DEFAULT_PORT } from './command-specs.ts';
import type { Printer } from './print.ts';
import { statelessCall } from './stateless-call.ts';
import { version } from './version.ts';

export interface Welcome {
  host: string;
  port: number;
  scheme?: 'http' | 'https';
  /** False when the default port was taken and another one had to do. */
  isChosen: boolean;
  print: Printer;
  /** After the version: "demo server". */
  title: string;
  /** The name of the entry in a client's file. */
  name: string;
  /** Lines about what is served. */
  about: string[];
  /** The words after `parley` for a client that starts it. */
  program: string[];
  /** A tool to try with curl. */
  sample?: { tool: string; args: object };
}

/** From beside it, and from the chunk that this is built into. */
const MAIN = new URL('../cli/main.js', import.meta.url);
const WILDCARDS = new Set(['0.0.0.0', '::', '[::]']);

export function welcome(options: Welcome): string[] {
  const { host, port, scheme = 'http', print, title, name, about, program, sample } = options;
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
    `  ${link(`${scheme.replace('http', 'ws')}://${origin}/ws`)}  WebSocket`,
    '',
    `  speaks  ${ALL_REVISIONS.join(', ')}`,
    ...about.map((line) => `  ${line}`),
    '',
    bold('Claude Code'),
    `  claude mcp add --transport http ${name} ${url}`,
    '',
    bold('Claude Desktop, Cursor and others: their mcpServers file, by URL'),
    `  ${toServers(name, { url })}`,
    bold('or started by the client'),
    `  ${toServers(name, toProgram(program, isInstalled()))}`,
    ...(isInstalled() ? [] : [print.style('dim', `  (installed from npm: "npx -y mcp-parley ${program.join(' ')}")`)]),
    ...(sample ? ['', bold('No client at hand')] : []),
    ...(sample ? statelessCall(url, sample.tool, sample.args).map((line) => `  ${line}`) : []),
  ];
}

function notes({ host, port, isChosen, scheme }: Welcome): string[] {
  const isOpen = scheme !== 'https' && !/^(localhost|127\.|\[?::1\]?$)/.test(host);
  return [
    ...(isChosen ? [] : [`Port ${DEFAULT_PORT} is taken: using ${port}.`]),
    ...(isOpen ? [`Listening on ${host} without TLS or login: whoever can reach this machine can call it.`] : []),
  ];
}

function toAddress(host: string): string {
  if (WILDCARDS.has(host)) return '127.0.0.1';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function toServers(name: string, server: object): string {
  const text = JSON.stringify({ mcpServers: { [name]: server } });
  // Spaces between keys and values, not within them.
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|([:,])(?=["[{])/g, (found, word?: string) => word ?? `${found} `);
}

/** An installed package is found by npx; a checkout only by its path. */
function toProgram(words: string[], installed: boolean): { command: string; args: string[] } {
  if (installed) return { command: 'npx', args: ['-y', 'mcp-parley', ...words] };
  return { command: 'node', args: [fileURLToPath(MAIN), ...words] };
}

function isInstalled(): boolean {
  return MAIN.pathname.includes('/node_modules/');
}
