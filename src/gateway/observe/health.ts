// The pages /healthz and /readyz, for those who decide whether to restart this process or to send it clients. They name
// servers and states, never why: reasons name commands and paths, and these pages may be open to a whole network.
import type { HttpHandler, HttpRequest, HttpResponse } from '../../shared/http.ts';

export interface ServerHealth {
  readonly name: string;
  readonly state: 'idle' | 'starting' | 'ready' | 'failing';
  /** To be there at all times, and not only when a client needs it. */
  readonly isEager: boolean;
}

/** This process is up. */
export const healthPage: HttpHandler = (request, response) => {
  answerJson(request, response, () => ({ status: 200, body: { status: 'ok' } }));
};

/** `wake` makes a server that failed be tried again: no client will, while this page keeps them away. */
export function createReadyPage(servers: () => readonly ServerHealth[], wake: (name: string) => void): HttpHandler {
  return (request, response) => {
    answerJson(request, response, () => {
      const missing = notReady(servers());
      for (const { name, state } of missing) if (state === 'failing') wake(name);
      const body = { status: missing.length === 0 ? 'ready' : 'not ready', servers: toStates(servers()) };
      if (missing.length === 0) return { status: 200, body };
      return { status: 503, body: { ...body, notReady: missing.map(({ name }) => name) } };
    });
  };
}

/**
 * Every eager server has to be there; of the others, one that can be used. One that nobody has needed yet, or that was
 * stopped since, can be: it starts with its next call.
 */
export function notReady(servers: readonly ServerHealth[]): readonly ServerHealth[] {
  const missing = servers.filter(({ isEager, state }) => isEager && (state === 'starting' || state === 'failing'));
  if (missing.length > 0) return missing;
  const failing = servers.filter(({ state }) => state === 'failing');
  return failing.length === servers.length ? failing : [];
}

function toStates(servers: readonly ServerHealth[]): Record<string, string> {
  return Object.fromEntries(servers.map(({ name, state }) => [name, state]));
}

function answerJson(request: HttpRequest, response: HttpResponse, look: () => { status: number; body: object }): void {
  const { status, body } = look();
  answerPage(request, response, { status, type: 'application/json', body: `${JSON.stringify(body)}\n` });
}

/** The text is made when somebody asks for it. */
export function metricsPage(text: () => Promise<{ type: string; body: string }>): HttpHandler {
  return (request, response) => {
    text().then(
      (made) => answerPage(request, response, { status: 200, ...made }),
      () => answerPage(request, response, { status: 500, type: 'text/plain', body: 'Metrics could not be read\n' }),
    );
  };
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
