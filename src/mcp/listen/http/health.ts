// Serves /healthz and /readyz for orchestrators and load balancers, and /metrics. /readyz names servers and their states to this machine alone, and
// never reasons: reasons contain commands and paths, and these pages may be open to a whole network.
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';

export interface ServerHealth {
  readonly name: string;
  readonly state: 'idle' | 'starting' | 'ready' | 'failing';
  /** Whether it has to run at all times, and not only on demand. */
  readonly isEager: boolean;
}

/** Reports that this process is up. */
export const healthPage: HttpHandler = (request, response) => {
  answerJson(request, response, { status: 200, body: { status: 'ok' } });
};

export interface ReadyPageOptions {
  servers: () => readonly ServerHealth[];
  /** Retries a failed server; no client would, while this page keeps clients away. */
  wake: (name: string) => void;
  /** Whether the process finishes its last calls. */
  isStopping: () => boolean;
  /** Whether the request is of this machine, and not through a proxy. */
  isLocal: (request: HttpRequest) => boolean;
}

export function createReadyPage({ servers, wake, isStopping, isLocal }: ReadyPageOptions): HttpHandler {
  return (request, response) => {
    if (isStopping()) return answerJson(request, response, { status: 503, body: { status: 'stopping' } });
    const missing = notReady(servers());
    for (const { name, state } of missing) if (state === 'failing') wake(name);
    const [status, word] = missing.length === 0 ? [200, 'ready'] : [503, 'not ready'];
    const states = isLocal(request) && {
      servers: Object.fromEntries(servers().map(({ name, state }) => [name, state])),
      ...(missing.length > 0 && { notReady: missing.map(({ name }) => name) }),
    };
    answerJson(request, response, { status, body: { status: word, ...states } });
  };
}

/**
 * The servers that keep the gateway from being ready: eager ones that are starting or failing; otherwise all, if all have failed.
 * An idle server counts as ready, because it starts with its next call.
 */
export function notReady(servers: readonly ServerHealth[]): readonly ServerHealth[] {
  const missing = servers.filter(({ isEager, state }) => isEager && (state === 'starting' || state === 'failing'));
  if (missing.length > 0) return missing;
  const failing = servers.filter(({ state }) => state === 'failing');
  return failing.length === servers.length ? failing : [];
}

function answerJson(
  request: HttpRequest,
  response: HttpResponse,
  { status, body }: { status: number; body: object },
): void {
  answerPage(request, response, { status, type: 'application/json', body: `${JSON.stringify(body)}\n` });
}

function answerPage(
  { method }: HttpRequest,
  response: HttpResponse,
  { status, type, body }: { status: number; type: string; body: string },
): void {
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD', 'content-type': 'text/plain' }).end('GET or HEAD\n');
    return;
  }
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(method === 'HEAD' ? undefined : body);
}

/** The text is built on each request. */
export function metricsPage(text: () => Promise<{ type: string; body: string }>): HttpHandler {
  return (request, response) => {
    text().then(
      (made) => answerPage(request, response, { status: 200, ...made }),
      () => answerPage(request, response, { status: 500, type: 'text/plain', body: 'Metrics could not be read\n' }),
    );
  };
}
