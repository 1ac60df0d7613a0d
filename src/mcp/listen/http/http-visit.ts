// An HTTP request on its way through the endpoint.
import type { Identity, Validity } from '../../../kernel/exchange.ts';
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import type { Login } from '../login.ts';

export interface HttpVisit {
  request: HttpRequest;
  response: HttpResponse;
  /** Undefined for an unknown caller. */
  principal: string | undefined;
  identity?: Identity | undefined;
  /** What decides about calls, where a login is needed. */
  access?: VisitAccess | undefined;
  /** Set if finding out who calls took time (kernel/arrival.ts). */
  arrival?: number | undefined;
}

export interface VisitAccess {
  login: Login;
  resource: string | undefined;
  /** How long a caller without a name may have something open, at the gateway that has let it in. */
  nameless?: Validity | undefined;
}

/** How long what the caller opens may stay open; undefined: as long as the connection. */
export function validityOf({ identity, access }: Pick<HttpVisit, 'identity' | 'access'>): Validity | undefined {
  return identity ? identity.validity : access?.nameless;
}
