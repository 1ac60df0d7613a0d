// Serves until a signal arrives or the client on stdio closes its end.
import type { HttpListenOptions, HttpListening } from '../../gateway/accept/http/listen-http.ts';
import type { StdioListening } from '../../gateway/accept/stdio.ts';
import { settledWithin } from '../../shared/timing.ts';
import { ListenError, openPort } from './open-port.ts';
import type { OpenedPort, PortOptions } from './open-port.ts';
import type { Printer } from '../terminal/print.ts';
import { releaseStdin } from '../running/first-message.ts';
import { untilSignal } from '../signals.ts';

/** What a command serves; `close` also closes what is behind it. */
export interface ServeTarget {
  stdio(): StdioListening | Promise<StdioListening>;
  http(options: HttpListenOptions): Promise<HttpListening>;
  close(): Promise<unknown>;
  /** Lets other commands find the gateway; returns a function that withdraws it. */
  announce?(url?: string): () => void;
}

export interface HttpServeOptions {
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
  const opened = await tryListen(served, wishes, print);
  let status = 1;
  if (opened) {
    const takeBack = served.announce?.(opened.url); // first, as a reader of the welcome may look for it at once
    wishes.onOpen(opened);
    releaseStdin();
    const stdio = wishes.stdio ? await served.stdio() : undefined;
    status = await Promise.race([ended, ...(wishes.until ? [wishes.until] : []), ...(stdio ? [stdio.closed] : [])]);
    takeBack?.();
    stdio?.close();
    await opened.close();
  }
  await settledWithin(served.close(), CLOSE_MS);
  return status;
}

async function tryListen(
  served: ServeTarget,
  { wanted }: HttpServeOptions,
  print: Printer,
): Promise<OpenedPort | undefined> {
  try {
    return await openPort({ listen: (options) => served.http(options) }, wanted);
  } catch (thrown) {
    if (!(thrown instanceof ListenError)) throw thrown;
    print.problem(thrown.message);
    return undefined;
  }
}

function warnTerminal(print: Printer): void {
  if (!process.stdin.isTTY) return;
  print.problem('waiting for JSON-RPC on stdin, one message per line; this is meant to be started by an MCP client.');
}
