// Opens a port for a command that serves, or says in words why not.
import { GatewayError } from '../../shared/errors.ts';
import type { HttpListenOptions, HttpListening } from '../../gateway/accept/http/listen-http.ts';
import { DEFAULT_PORT } from '../../config/settings.ts';

export interface HttpListener {
  listen(options: HttpListenOptions): Promise<HttpListening>;
}

export interface PortOptions extends Omit<HttpListenOptions, 'port' | 'host'> {
  /** Undefined: the default one, or the next that is free. */
  port: number | undefined;
  host: string;
}

export interface OpenedPort extends HttpListening {
  /** False when the default port was taken and another one had to do. */
  readonly isChosen: boolean;
}

/** Told to the user as it is. */
export class ListenError extends Error {}

/** How many ports after the default one are tried. */
const TRIES = 20;

export async function openPort(server: HttpListener, wanted: PortOptions): Promise<OpenedPort> {
  try {
    const listening = await open(server, wanted);
    return { ...listening, isChosen: wanted.port !== undefined || listening.port === DEFAULT_PORT };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    throw new ListenError(whyNot(thrown, wanted), { cause: thrown });
  }
}

/** A port that was asked for is taken or refused; the default one may give way to the next free one. */
async function open(server: HttpListener, { port, ...rest }: PortOptions): Promise<HttpListening> {
  if (port !== undefined) return server.listen({ port, ...rest });
  for (let tried = DEFAULT_PORT; tried < DEFAULT_PORT + TRIES; tried++) {
    try {
      return await server.listen({ port: tried, ...rest });
    } catch (thrown) {
      if (!isTaken(thrown)) throw thrown;
    }
  }
  return server.listen({ port: 0, ...rest });
}

function isTaken(thrown: unknown): boolean {
  return thrown instanceof GatewayError && systemCode(thrown) === 'EADDRINUSE';
}

/** What the system said, and what to do about it. */
function whyNot(error: GatewayError, { host, port = DEFAULT_PORT }: PortOptions): string {
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is taken. Choose another one, or --port 0 for any that is free.`;
    case 'EACCES':
      return `you are not allowed to open port ${port}. Choose one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `"${host}" is not an address of this machine. Use 127.0.0.1 (the default), or 0.0.0.0 for all of its addresses.`;
    default:
      return `cannot listen on ${host}: ${error.message}`;
  }
}

function systemCode({ cause }: GatewayError): string {
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
}
