// Lets people log in at the pages of the gateway, at the issuer that also names them as callers.
// 1. Nothing is kept but the logins that were ended, in the memory of the gateway: what a login needs when it comes back is sealed into a cookie
//    of the browser that began it.
// 2. It leads only to one of our pages, which was sealed with it.
// 3. There is one place to log in: of two issuers, one could have the code of the other sent to itself.
// 4. A cookie counts if there is one of its name: other hosts and ports can add theirs. On https they cannot (`__Host-`).
// 5. A person who is logged in is a principal as callers are, and may do at a page what that caller may, for some hours.
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import type { LoadFrontPages, PageLogin, PageLoginVisit } from '../../../kernel/login-pages.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { addressOf } from '../../../kernel/base/http.ts';
import { networkOf } from '../../../kernel/net/network.ts';
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { cookiesNamed, toSetCookie } from '../../../kernel/net/browser-request.ts';
import { FRONT_PATH } from './auth-options.ts';
import type { AuthOptions, FrontOptions } from './auth-options.ts';
import type { LoginMemory } from './login-memory.ts';
import type { PersonAttempt, PersonClaims, PersonLogin } from './front/person-login.ts';

interface PageLoginContext {
  clock: Clock;
  log: Log;
  events?: EventHub | undefined;
  sealer: Sealer;
  memory: LoginMemory;
  pages: LoadFrontPages;
  /** The URL of the pages; undefined if browsers cannot reach them. */
  base: () => Promise<string | undefined>;
}

/** Where people log in. */
interface LoginPlace {
  /** Whose principals they are. */
  issuer: string;
  options: FrontOptions;
  /** Where the browser comes back to. */
  callback: string;
}

interface SealedVisit extends PersonAttempt {
  back: string;
  until: number;
}

interface Visitor {
  principal: string;
  until: number;
}

export const PAGE_CALLBACK_PATH = '/ask/callback';
const ATTEMPT_S = 600;
/** A working day. */
const VISITOR_S = 8 * 3600;
const SECONDS = { visit: ATTEMPT_S, visitor: VISITOR_S };
type Cookie = keyof typeof SECONDS;

/** Undefined if nothing says where people log in. */
export function createPageLogin(
  { front, issuers = [] }: AuthOptions,
  publicUrl: string | undefined,
  context: PageLoginContext,
): OpenIdPageLogin | undefined {
  const places: LoginPlace[] = issuers.flatMap((one) => {
    if (typeof one === 'string' || !one.pages) return [];
    return [{ issuer: one.issuer, options: { ...one.pages, issuer: one.issuer }, callback: PAGE_CALLBACK_PATH }];
  });
  if (front && publicUrl !== undefined) {
    const issuer = publicUrl.replace(/\/+$/, '') + FRONT_PATH;
    places.unshift({ issuer, options: front, callback: `${FRONT_PATH}/callback` });
  }
  const [place, another] = places;
  if (another) throw new GatewayError('BAD_OPTION', { option: 'auth', reason: ONE_PLACE });
  return place && new OpenIdPageLogin(place, publicUrl, context);
}

const ONE_PLACE = 'people log in at pages in one place: `pages` of one issuer, or `front`';

class OpenIdPageLogin implements PageLogin {
  readonly #place: LoginPlace;
  readonly #context: PageLoginContext;
  /** Cookies of gateways on one host have several names, and count at one of them. */
  readonly #self: string;
  readonly #isSecure: boolean;
  #person: Promise<PersonLogin> | undefined;

  constructor(place: LoginPlace, publicUrl: string | undefined, context: PageLoginContext) {
    this.#place = place;
    this.#context = context;
    this.#self = JSON.stringify([publicUrl, place.options.issuer, place.options.clientId]);
    this.#isSecure = publicUrl?.startsWith('https:') === true;
  }

  hostFor(principal: string | undefined): string | undefined {
    const { issuer, options } = this.#place;
    return principal === undefined || principal.startsWith(`${issuer}#`) ? new URL(options.issuer).host : undefined;
  }

  async visitorOf(request: HttpRequest): Promise<string | undefined> {
    const sent = this.#cookieOf(request, 'visitor');
    const visitor = sent === undefined ? undefined : (this.#open(sent, 'visitor') as Visitor | undefined);
    return visitor && !(await this.#context.memory.endedCookies.has(sent!)) ? visitor.principal : undefined;
  }

  async begin({ request, response, back }: PageLoginVisit): Promise<void> {
    const { clock, pages } = this.#context;
    await this.#guarded(response, async () => {
      const person = await this.#loadPerson();
      const attempt = person.newAttempt();
      // The one who is logged in here already is not the one who is asked.
      const prompt = (await this.visitorOf(request)) === undefined ? undefined : 'login';
      const page = await person.pageFor(attempt, prompt);
      const visit: SealedVisit = { ...attempt, back, until: clock.now() + ATTEMPT_S * 1000 };
      await this.#setCookie(response, 'visit', visit);
      (await pages()).goOn(response, page);
    });
  }

  async logOut({ request, response }: Pick<PageLoginVisit, 'request' | 'response'>): Promise<void> {
    const principal = await this.visitorOf(request);
    if (principal === undefined) return;
    await this.#context.memory.endedCookies.add(this.#cookieOf(request, 'visitor')!, VISITOR_S * 1000);
    await this.#setCookie(response, 'visitor', undefined);
    this.#context.events?.prove({ kind: 'login', principal, outcome: 'ended', details: { way: 'page' } });
  }

  /** Whether this browser comes back from the login that it began here last. */
  isBack(request: HttpRequest): boolean {
    return this.#visitOf(request) !== undefined;
  }

  async comeBack(request: HttpRequest, response: HttpResponse): Promise<void> {
    const { clock, pages, events } = this.#context;
    await this.#guarded(response, async () => {
      const visit = this.#visitOf(request);
      if (request.method !== 'GET' || !visit) return (await pages()).gone(response);
      const { sub } = await this.#finish(request, visit);
      const principal = `${this.#place.issuer}#${sub}`;
      events?.prove({ kind: 'login', principal, outcome: 'ok', details: { way: 'page' } });
      const visitor: Visitor = { principal, until: clock.now() + VISITOR_S * 1000 };
      await this.#setCookie(response, 'visitor', visitor);
      (await pages()).goOn(response, (await this.#base()) + visit.back);
    });
  }

  /** Each bad code costs a request to the issuer, so an address may try only a few. */
  async #finish(request: HttpRequest, visit: SealedVisit): Promise<PersonClaims> {
    const network = networkOf(addressOf(request) ?? '');
    const { pageLogins } = this.#context.memory;
    if (pageLogins.waitMs(network) > 0) throw new Error('too many logins of this address have failed');
    try {
      return await (await this.#loadPerson()).finish(queryOf(request), visit);
    } catch (error) {
      pageLogins.count(network);
      throw error;
    }
  }

  #loadPerson(): Promise<PersonLogin> {
    const { options, callback } = this.#place;
    const load = async (): Promise<PersonLogin> => {
      const [loaded, base] = await Promise.all([import('./front/person-login.ts'), this.#base()]);
      return new loaded.PersonLogin(options, base + callback);
    };
    this.#person ??= load().catch((error: unknown) => {
      this.#person = undefined;
      throw error;
    });
    return this.#person;
  }

  async #base(): Promise<string> {
    const base = await this.#context.base();
    if (base === undefined) throw new Error('browsers cannot reach the pages: set publicUrl');
    return base.replace(/\/+$/, '');
  }

  #visitOf(request: HttpRequest): SealedVisit | undefined {
    const sent = this.#cookieOf(request, 'visit');
    const visit = sent === undefined ? undefined : (this.#open(sent, 'visit') as SealedVisit | undefined);
    return visit?.state === queryOf(request).get('state') ? visit : undefined;
  }

  #cookieName(what: Cookie): string {
    const digest = sha256(this.#self, 'hex').slice(0, 16);
    return `${this.#isSecure ? '__Host-' : ''}parley-${what}-${digest}`;
  }

  /** Without content it is removed. */
  async #setCookie(response: HttpResponse, what: Cookie, content: Visitor | SealedVisit | undefined): Promise<void> {
    const isSecure = this.#isSecure;
    const path = isSecure ? '/' : new URL(await this.#base()).pathname;
    const sealed = content ? this.#context.sealer.seal(what, this.#self, content) : '';
    const seconds = content ? SECONDS[what] : 0;
    const cookie = { name: this.#cookieName(what), content: sealed, path, seconds, isSecure };
    // Lax: links to our pages are opened from elsewhere. No form of another site is taken.
    response.setHeader('set-cookie', toSetCookie({ ...cookie, sameSite: 'Lax' }));
  }

  #cookieOf({ headers }: HttpRequest, what: Cookie): string | undefined {
    const [sent, another] = cookiesNamed(this.#cookieName(what), headers.cookie);
    return another === undefined ? sent : undefined;
  }

  #open(sent: string, what: Cookie): { until: number } | undefined {
    const { sealer, clock } = this.#context;
    const kept = sealer.open(what, this.#self, sent) as { until: number } | undefined;
    return kept && kept.until > clock.now() ? kept : undefined;
  }

  async #guarded(response: HttpResponse, go: () => Promise<void>): Promise<void> {
    const { log, pages, events } = this.#context;
    try {
      await go();
    } catch (error) {
      const { person, reason } = error as { person?: string; reason?: string };
      log.warn(person === undefined ? { error } : { person, reason }, 'page.login-failed');
      if (person === undefined) return (await pages()).gone(response);
      events?.prove({ kind: 'refusal', principal: person, outcome: 'PERSON_REFUSED', details: { reason } });
      (await pages()).refused(response);
    }
  }
}

function queryOf({ url = '' }: HttpRequest): URLSearchParams {
  return new URL(url, 'http://localhost').searchParams;
}
