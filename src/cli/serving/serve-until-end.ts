// Serves on stdio or a port, until a signal arrives or the client on stdio closes its end.
import { DEFAULT_PORT } from '../../config/settings.ts';
import type { HttpListenOptions, HttpListening } from '../../mcp/listen/http/listen-http.ts';
import type { StdioListening } from '../../mcp/listen/stdio.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { settledWithin } from '../../kernel/base/timing.ts';
import { releaseStdin } from '../running/first-message.ts';
import { isTerminated, untilSignal } from '../signals.ts';
import type { Printer } from '../../kernel/command/printer.ts';

/** What a command serves; `close` also closes what is behind it. */
export interface ServeTarget {
  stdio(): StdioListening | Promise<StdioListening>;
  http(options: HttpListenOptions): Promise<HttpListening>;
  close(): Promise<unknown>;
  /** Finishes the calls of HTTP clients. */
  drain?(): Promise<void>;
  /** Lets other commands find the gateway; returns a function that withdraws it. */
  announce?(url?: string): () => void;
}

interface PortOptions extends Omit<HttpListenOptions, 'port' | 'host'> {
  /** Undefined: the default port, or the next free one. */
  port: number | undefined;
  host: string;
}

export interface OpenedPort extends HttpListening {
  /** False if the default port was taken and another one is used. */
  readonly isChosen: boolean;
}

interface HttpServeOptions {
  wanted: PortOptions;
  stdio?: boolean | undefined;
  /** Ends serving with this exit status. */
  until?: Promise<number> | undefined;
  /** Called when the port is open. */
  onOpen(opened: OpenedPort): void;
}

/** By then a client on stdio has its first answer, which must not be delayed. */
const ANNOUNCE_MS = 300;
/** Servers get a few seconds to exit; those that are not ready by then end with this process. */
const CLOSE_MS = 6000;

/** How many ports after the default one to try. */
const TRIES = 20;

export async function serveStdio(served: ServeTarget, print: Printer): Promise<number> {
  const ended = untilSignal();
  warnTerminal(print);
  releaseStdin();
  const listening = await served.stdio();
  let takeBack: (() => void) | undefined;
  const announcing = setTimeout(() => (takeBack = served.announce?.()), ANNOUNCE_MS);
  const status = await Promise.race([listening.closed, ended]);
  clearTimeout(announcing);
  takeBack?.();
  listening.close();
  await settledWithin(served.close(), CLOSE_MS);
  return status;
}

/** Serves a port and, if requested, stdio; then the client on stdio decides when it ends. */
export async function serveHttp(served: ServeTarget, wishes: HttpServeOptions, print: Printer): Promise<number> {
  const ended = untilSignal();
  const opened = await openPort(served, wishes.wanted, print);
  let status = 1;
  if (opened) {
    const takeBack = served.announce?.(opened.url); // first, as a reader of the welcome may look for it at once
    wishes.onOpen(opened);
    releaseStdin();
    const stdio = wishes.stdio ? await served.stdio() : undefined;
    status = await Promise.race([ended, ...(wishes.until ? [wishes.until] : []), ...(stdio ? [stdio.closed] : [])]);
    takeBack?.();
    if (isTerminated()) await served.drain?.();
    stdio?.close();
    await opened.close();
  }
  await settledWithin(served.close(), CLOSE_MS);
  return status;
}

function warnTerminal(print: Printer): void {
  if (!process.stdin.isTTY) return;
  print.problem('waiting for JSON-RPC on stdin, one message per line; this is meant to be started by an MCP client.');
}

/** Undefined if it cannot be opened; the reason has been printed. */
async function openPort(served: ServeTarget, wanted: PortOptions, print: Printer): Promise<OpenedPort | undefined> {
  try {
    const listening = await listen(served, wanted);
    return { ...listening, isChosen: wanted.port !== undefined || listening.port === DEFAULT_PORT };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    print.problem(await whyNot(thrown, wanted));
    return undefined;
  }
}

/** Opens the requested port or fails; without a request, opens the first free one from the default port on. */
async function listen(served: ServeTarget, { port, ...rest }: PortOptions): Promise<HttpListening> {
  if (port !== undefined) return served.http({ port, ...rest });
  for (let tried = DEFAULT_PORT; tried < DEFAULT_PORT + TRIES; tried++) {
    try {
      return await served.http({ port: tried, ...rest });
    } catch (thrown) {
      if (!isTaken(thrown)) throw thrown;
    }
  }
  return served.http({ port: 0, ...rest });
}

function isTaken(thrown: unknown): boolean {
  return thrown instanceof GatewayError && systemCode(thrown) === 'EADDRINUSE';
}

/** Explains the system error and what to do. */
async function whyNot(error: GatewayError, { host, port = DEFAULT_PORT }: PortOptions): Promise<string> {
  if (error.code === 'OPEN_TO_OTHERS') return `${error.message}. ${error.row.hint}`;
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is taken${await byWhom(port)}. Choose another one, or --port 0 for any that is free.`;
    case 'EACCES':
      return `you are not allowed to open port ${port}. Choose one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `"${host}" is not an address of this machine. Use 127.0.0.1 (the default), or 0.0.0.0 for all of its addresses.`;
    default:
      return `cannot listen on ${host}: ${error.message}`;
  }
}

async function byWhom(port: number): Promise<string> {
  const { who } = await (await import('../running/port-holder.ts')).describeHolder(port);
  return who === undefined ? '' : ` by ${who}`;
}

function systemCode({ cause }: GatewayError): string {
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
}
