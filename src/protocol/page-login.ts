// The login of people at the pages of a gateway, in a browser. It proves that a browser belongs to the caller whose page it opens.
import type { HttpRequest, HttpResponse } from '../shared/http.ts';

export interface PageLogin {
  /** Where callers with this principal log in; undefined if they cannot. Without a principal: the first place that there is. */
  hostFor(principal: string | undefined): string | undefined;
  /** The principal that is logged in at this browser. */
  visitorOf(request: HttpRequest): string | undefined;
  /** Leads the browser to the login, and from there to a page of ours. */
  begin(visit: PageLoginVisit): Promise<void>;
}

export interface PageLoginVisit {
  request: HttpRequest;
  response: HttpResponse;
  principal: string | undefined;
  /** The page of ours, with its query. */
  back: string;
}
