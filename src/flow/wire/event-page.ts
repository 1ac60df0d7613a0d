// The HTTP endpoint for events: one POST of JSON to a sealed URL. A GET changes nothing. An invalid URL gets no explanation.
import { readRequestBody } from '../../mcp/listen/http/http-post.ts';
import { ERRORS } from '../../kernel/base/error-table.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../kernel/base/http.ts';
import { deliverToUrl } from '../session/external/deliver-event.ts';
import { openEventToken } from '../session/values/event-url.ts';
import type { Sessions } from '../session/sessions.ts';

export function eventPage(sessions: Sessions): HttpHandler {
  const { log, limits } = sessions.context;
  return (request, response) => {
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST');
      return answer(response, 405, { error: 'Deliver an event by POST' });
    }
    const address = openEventToken(sessions.context, tokenOf(request));
    if (!address) return answer(response, 404, { error: 'Unknown event' });
    readRequestBody(request, limits.eventBytes, (body) => {
      deliverToUrl(sessions, address, () => toValue(body)).then(
        ({ again }) => answer(response, 200, { delivered: true, ...(again && { again }) }),
        (thrown: unknown) => refuse(response, thrown, (error) => log.error({ error }, 'flow.event-failed')),
      );
    });
  };
}

function tokenOf({ url = '' }: HttpRequest): string {
  const query = url.indexOf('?');
  return query === -1 ? '' : (new URLSearchParams(url.slice(query)).get('t') ?? '');
}

/** An empty body is an event without a value. */
function toValue(body: string | GatewayError): unknown {
  if (typeof body !== 'string') throw body;
  if (body.trim() === '') return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new GatewayError('FLOW_VALIDATION_FAILED', { reason: 'the event is not JSON' });
  }
}

function refuse(response: HttpResponse, thrown: unknown, report: (error: unknown) => void): void {
  const known = thrown instanceof GatewayError;
  const status = known ? ERRORS[thrown.code].status : 500;
  if (status >= 500) report(thrown);
  if (status >= 500 || !known)
    return answer(response, status, { error: 'The event could not be delivered; try again later' });
  const { retryAfterMs } = thrown.details;
  if (typeof retryAfterMs === 'number') response.setHeader('retry-after', String(Math.ceil(retryAfterMs / 1000)));
  answer(response, status, { error: thrown.message, code: thrown.code });
}

function answer(response: HttpResponse, status: number, body: object): void {
  const text = `${JSON.stringify(body)}\n`;
  response.removeHeader('access-control-allow-origin'); // web pages must not read it
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}
