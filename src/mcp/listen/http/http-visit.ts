// An HTTP request on its way through the endpoint.
import type { Identity } from '../../../kernel/exchange.ts';
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import type { Login } from '../login.ts';

export interface HttpVisit {
  request: HttpRequest;
  response: HttpResponse;
  /** Undefined for an unknown caller. */
  principal: string | undefined;
  identity?: Identity | undefined;
  /** What decides about calls, where a login is needed. */
  access?: { login: Login; resource: string | undefined } | undefined;
  /** Set if finding out who calls took time (kernel/arrival.ts). */
  arrival?: number | undefined;
}
