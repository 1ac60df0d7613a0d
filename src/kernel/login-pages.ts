// Where logins and pages meet: the pages that a person sees between a client and the login, which are made in the style of our other pages, and
// the login by which a browser at our pages proves that it belongs to a caller.
import type { HttpRequest, HttpResponse } from './base/http.ts';

export interface ConsentParts {
  /** How the client calls itself, which anybody can claim. */
  client: string;
  clientId: string;
  /** Where the person goes afterwards: the part that a client cannot claim freely. */
  redirect: string;
  scopes: readonly string[];
  resource: string;
  /** Goes back with the form. */
  token: string;
}

export interface FrontPages {
  consent(response: HttpResponse, parts: ConsentParts): void;
  /** Leads to another page, without a redirect: browsers forbid forms that end elsewhere. */
  goOn(response: HttpResponse, url: string): void;
  /** For everything that does not work, without a reason. */
  gone(response: HttpResponse): void;
  /** The person is known, and may not use this gateway. */
  refused(response: HttpResponse): void;
}

export type LoadFrontPages = () => Promise<FrontPages>;

/** In a browser, at the pages of a gateway. */
export interface PageLogin {
  /** Where callers with this principal log in; undefined if they cannot. Without a principal: the first place that there is. */
  hostFor(principal: string | undefined): string | undefined;
  /** The principal that is logged in at this browser. */
  visitorOf(request: HttpRequest): Promise<string | undefined>;
  /** Sends the browser to the login, and from there to one of our pages. */
  begin(visit: PageLoginVisit): Promise<void>;
  /** Ends the login of this browser: its cookie is removed, and no copy of it counts. The answer is still to be written. */
  logOut(visit: Pick<PageLoginVisit, 'request' | 'response'>): Promise<void>;
}

export interface PageLoginVisit {
  request: HttpRequest;
  response: HttpResponse;
  /** Our page, with its query. */
  back: string;
}
