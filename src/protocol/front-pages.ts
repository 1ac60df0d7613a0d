// The pages that a person sees between a client and the login. They are made elsewhere, in the style of our other pages.
import type { HttpResponse } from '../shared/http.ts';

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
