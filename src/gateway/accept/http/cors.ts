// CORS headers for web pages. The guard has already accepted their Origin.
import type { HttpRequest, HttpResponse } from '../../../shared/http.ts';

export function allowOrigin(request: HttpRequest, response: HttpResponse): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate, DPoP-Nonce');
  response.setHeader('vary', 'Origin');
}

/** Allows the headers that are asked for, because tools choose the names of `Mcp-Param-*` headers. */
export function answerPreflight(request: HttpRequest, response: HttpResponse, methods: string): void {
  const asked = request.headers['access-control-request-headers'];
  response.writeHead(204, {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': asked ?? 'Content-Type, Authorization, Mcp-Session-Id, MCP-Protocol-Version',
    'access-control-max-age': '600',
  });
  response.end();
}
