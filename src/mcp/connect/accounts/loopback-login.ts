// Lets a person log in with a browser on this machine: a listener on a loopback port receives the redirect. It ends with the first
// redirect that belongs to the attempt; a request with another state changes nothing.
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { ServerLogin } from './server-login.ts';

interface LoopbackLoginOptions {
  /** Shows the link to a person, or opens it. */
  open(url: string): unknown;
  /** For messages. */
  name: string;
  /** For clients that were registered with a port. Default: the one used before, else any. */
  port?: number | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 10 * 60_000;
const HOST = '127.0.0.1';
const PATH = '/callback';
const STYLE = 'font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 20vh auto; padding: 0 1rem';

export async function logInOnLoopback(login: ServerLogin, options: LoopbackLoginOptions): Promise<void> {
  const { name, timeoutMs = TIMEOUT_MS } = options;
  const server = await listen(options.port ?? (await lastPort(login)), options.port !== undefined);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  try {
    const { port } = server.address() as AddressInfo;
    const attempt = await login.begin(`http://${HOST}:${port}${PATH}`);
    const done = redirectOf(server, attempt.state, signal, (parameters) => attempt.finish(parameters));
    done.catch(() => {}); // `open` may fail first
    await options.open(attempt.url);
    await done;
  } catch (thrown) {
    if (!timeout.aborted) throw thrown;
    const reason = `nobody logged in within ${timeoutMs / 60_000} minutes`;
    throw new GatewayError('UPSTREAM_LOGIN_FAILED', { server: name, reason });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function lastPort(login: ServerLogin): Promise<number> {
  const url = await login.lastRedirectUrl();
  return url !== undefined && URL.canParse(url) && new URL(url).hostname === HOST ? Number(new URL(url).port) : 0;
}

function listen(port: number, isFixed: boolean): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (port === 0 || isFixed ? reject(error) : resolve(listen(0, false))));
    server.listen(port, HOST, () => resolve(server));
  });
}

function redirectOf(
  server: Server,
  state: string,
  signal: AbortSignal,
  finish: (parameters: URLSearchParams) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    server.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', `http://${HOST}`);
      if (request.method !== 'GET' || url.pathname !== PATH || url.searchParams.get('state') !== state) {
        return answer(response, 404, 'Nothing here', 'This link belongs to no login that is under way.');
      }
      finish(url.searchParams).then(
        () => {
          answer(response, 200, 'You are logged in', 'You can close this window.');
          response.once('close', resolve);
        },
        (error: Error) => {
          answer(response, 400, 'The login failed', 'The program that opened this page says why.');
          response.once('close', () => reject(error));
        },
      );
    });
  });
}

function answer(response: ServerResponse, status: number, title: string, text: string): void {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><link rel="icon" href="data:,"><title>${title}</title><body style="${STYLE}"><main><h1>${title}</h1><p>${text}</p></main></body></html>`;
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(page);
}
