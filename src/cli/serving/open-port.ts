// Opens a port for a serving command, or explains why it cannot.
import { GatewayError } from '../../shared/errors.ts';
import type { HttpListenOptions, HttpListening } from '../../gateway/accept/http/listen-http.ts';
import { DEFAULT_PORT } from '../../config/settings.ts';

export interface HttpListener {
  listen(options: HttpListenOptions): Promise<HttpListening>;
}

export interface PortOptions extends Omit<HttpListenOptions, 'port' | 'host'> {
  /** Undefined: the default port, or the next free one. */
  port: number | undefined;
  host: string;
}

export interface OpenedPort extends HttpListening {
  /** False if the default port was taken and another one is used. */
  readonly isChosen: boolean;
}

/** Its message is for the user. */
export class ListenError extends Error {}

/** How many ports after the default one to try. */
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

/** Opens the requested port or fails; without a request, opens the first free one from the default port on. */
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

/** Explains the system error and what to do. */
function whyNot(error: GatewayError, { host, port = DEFAULT_PORT }: PortOptions): string {
  if (error.code === 'OPEN_TO_OTHERS') return `${error.message}. ${error.row.hint}`;
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
