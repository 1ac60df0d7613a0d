// `parley demo`: the demo server on one loopback port for every transport, or on stdin and stdout. Ends on Ctrl-C, on
// SIGTERM, or, on stdio, when the client closes its end.
import { createLog } from '../../shared/log.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { ParleyServer } from '../../server/create-server.ts';
import type { DemoCommand } from '../args.ts';
import { createDemoServer } from '../demo-server.ts';
import { DEFAULT_PORT } from '../help.ts';
import type { Printer } from '../print.ts';
import { version } from '../version.ts';
import { welcome } from '../welcome.ts';

/** How many ports after the default one are tried. */
const TRIES = 20;

export async function demo(command: DemoCommand, print: Printer): Promise<number> {
  const server = createDemoServer({ version: version(), log: createLog({ level: 'error' }) });
  return command.stdio ? serveStdio(server, print) : serveHttp(server, command, print);
}

async function serveStdio(server: ParleyServer, print: Printer): Promise<number> {
  if (process.stdin.isTTY) {
    print.problem('waiting for JSON-RPC on stdin, one message per line; this is meant to be started by an MCP client.');
  }
  const { closed } = await server.listen({ stdio: true });
  const status = await Promise.race([closed, untilSignal()]);
  await server.close();
  return status;
}

async function serveHttp(server: ParleyServer, command: DemoCommand, print: Printer): Promise<number> {
  try {
    const { port } = await listen(server, command);
    for (const line of welcome({ host: command.host, port, isChosen: isChosen(command, port), print }))
      print.line(line);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    print.problem(whyNot(thrown, command));
    return 1;
  }
  const status = await untilSignal();
  await server.close();
  return status;
}

/** A port that was asked for is taken or refused; the default one may give way to the next free one. */
async function listen(server: ParleyServer, { port, host }: DemoCommand): Promise<{ port: number }> {
  if (port !== undefined) return server.listen({ port, host });
  for (let tried = DEFAULT_PORT; tried < DEFAULT_PORT + TRIES; tried++) {
    try {
      return await server.listen({ port: tried, host });
    } catch (thrown) {
      if (!isTaken(thrown)) throw thrown;
    }
  }
  return server.listen({ port: 0, host });
}

function isTaken(thrown: unknown): boolean {
  return thrown instanceof GatewayError && systemCode(thrown) === 'EADDRINUSE';
}

/** What the system said, and what to do about it. */
function whyNot(error: GatewayError, { host, port = DEFAULT_PORT }: DemoCommand): string {
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is taken. Choose another one, or --port 0 for any that is free.`;
    case 'EACCES':
      return `port ${port} is not yours to take. Choose one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `"${host}" is no address of this machine. Use 127.0.0.1 (the default), or 0.0.0.0 for all of its addresses.`;
    default:
      return `cannot listen on ${host}: ${error.message}`;
  }
}

function systemCode({ cause }: GatewayError): string {
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
}

function isChosen({ port }: DemoCommand, bound: number): boolean {
  return port !== undefined || bound === DEFAULT_PORT;
}

/** Once: a second Ctrl-C ends the process at once, as it does everywhere. */
function untilSignal(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(0));
  });
}
