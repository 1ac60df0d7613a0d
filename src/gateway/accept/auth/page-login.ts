// Lets people log in at the pages of the gateway, at the issuer that also names them as callers.
// 1. Nothing is kept here: what a login needs when it comes back is sealed into a cookie of the browser that began it.
// 2. It leads to a page of ours only, which was sealed with it.
// 3. A person who is logged in is a principal as callers are, and may do at a page what that caller may, for some hours.
import type { RecordAudit } from '../../../protocol/audit.ts';
import type { LoadFrontPages, PageLogin, PageLoginVisit } from '../../../protocol/login-pages.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Sealer } from '../../../shared/crypto/seal.ts';
import type { HttpRequest, HttpResponse } from '../../../shared/http.ts';
import type { Log } from '../../../shared/log.ts';
import type { AuthOptions } from './auth-options.ts';
import { FRONT_PATH } from './front/front-options.ts';
import type { FrontOptions } from './front/front-options.ts';
import type { PersonAttempt, PersonLogin } from './front/person-login.ts';
import { cookieIn } from './front/read-form-body.ts';

export interface PageLoginContext {
  clock: Clock;
  log: Log;
  audit?: RecordAudit | undefined;
  sealer: Sealer;
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
  person?: Promise<PersonLogin> | undefined;
}

interface SealedVisit extends PersonAttempt {
  back: string;
  issuer: string;
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
const VISITOR_COOKIE = 'parley-visitor';

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
  return places.length === 0 ? undefined : new OpenIdPageLogin(places, context);
}

export class OpenIdPageLogin implements PageLogin {
  readonly #places: readonly LoginPlace[];
  readonly #context: PageLoginContext;

  constructor(places: readonly LoginPlace[], context: PageLoginContext) {
    this.#places = places;
    this.#context = context;
  }

  hostFor(principal: string | undefined): string | undefined {
    const place = this.#placeOf(principal);
    return place && new URL(place.options.issuer).host;
  }

  visitorOf(request: HttpRequest): string | undefined {
    const { sealer, clock } = this.#context;
    const sealed = cookieIn(request, VISITOR_COOKIE);
    const visitor = sealed === undefined ? undefined : (sealer.open('visitor', '', sealed) as Visitor | undefined);
    return visitor && visitor.until > clock.now() ? visitor.principal : undefined;
  }

  async begin({ request, response, principal, back }: PageLoginVisit): Promise<void> {
    const { sealer, clock, pages } = this.#context;
    await this.#guarded(response, async () => {
      const place = this.#placeOf(principal)!;
      const person = await this.#personAt(place);
      const attempt = person.newAttempt();
      // The one who is logged in here already is not the one who is asked.
      const prompt = this.visitorOf(request) === undefined ? undefined : 'login';
      const page = await person.pageFor(attempt, prompt);
      const visit: SealedVisit = { ...attempt, back, issuer: place.issuer, until: clock.now() + ATTEMPT_S * 1000 };
      await this.#setCookie(
        response,
        attemptCookie(attempt.state),
        sealer.seal('visit', attempt.state, visit),
        ATTEMPT_S,
      );
      (await pages()).goOn(response, page);
    });
  }

  /** Whether this browser comes back from a login that it began here. */
  isBack(request: HttpRequest): boolean {
    return cookieIn(request, attemptCookie(stateOf(request))) !== undefined;
  }

  async comeBack(request: HttpRequest, response: HttpResponse): Promise<void> {
    const { sealer, clock, pages, audit } = this.#context;
    await this.#guarded(response, async () => {
      const state = stateOf(request);
      const visit = sealer.open('visit', state, cookieIn(request, attemptCookie(state)) ?? '') as
        | SealedVisit
        | undefined;
      const place = visit && this.#places.find(({ issuer }) => issuer === visit.issuer);
      if (!visit || !place || visit.until <= clock.now()) return (await pages()).gone(response);
      const { sub } = await (await this.#personAt(place)).finish(queryOf(request), visit);
      const principal = `${place.issuer}#${sub}`;
      audit?.({ kind: 'login', principal, outcome: 'ok', details: { way: 'page' } });
      const visitor: Visitor = { principal, until: clock.now() + VISITOR_S * 1000 };
      await this.#setCookie(response, VISITOR_COOKIE, sealer.seal('visitor', '', visitor), VISITOR_S);
      (await pages()).goOn(response, (await this.#base()) + visit.back);
    });
  }

  #placeOf(principal: string | undefined): LoginPlace | undefined {
    if (principal === undefined) return this.#places[0];
    return this.#places.find(({ issuer }) => principal.startsWith(`${issuer}#`));
  }

  #personAt(place: LoginPlace): Promise<PersonLogin> {
    place.person ??= this.#loadPerson(place).catch((error: unknown) => {
      place.person = undefined;
      throw error;
    });
    return place.person;
  }

  async #loadPerson({ options, callback }: LoginPlace): Promise<PersonLogin> {
    const [loaded, base] = await Promise.all([import('./front/person-login.ts'), this.#base()]);
    return new loaded.PersonLogin(options, base + callback);
  }

  async #base(): Promise<string> {
    const base = await this.#context.base();
    if (base === undefined) throw new Error('browsers cannot reach the pages: set publicUrl');
    return base.replace(/\/+$/, '');
  }

  async #setCookie(response: HttpResponse, name: string, content: string, seconds: number): Promise<void> {
    const { protocol, pathname } = new URL(await this.#base());
    const secure = protocol === 'https:' ? '; Secure' : '';
    // Lax: links to our pages are opened from elsewhere. No form of another site is taken.
    const rest = `Path=${pathname}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
    response.setHeader('set-cookie', `${name}=${content}; ${rest}`);
  }

  async #guarded(response: HttpResponse, go: () => Promise<void>): Promise<void> {
    const { log, pages, audit } = this.#context;
    try {
      await go();
    } catch (error) {
      const { person, reason } = error as { person?: string; reason?: string };
      log.warn(person === undefined ? { error } : { person, reason }, 'page.login-failed');
      if (person === undefined) return (await pages()).gone(response);
      audit?.({ kind: 'refusal', principal: person, outcome: 'PERSON_REFUSED', details: { reason } });
      (await pages()).refused(response);
    }
  }
}

function attemptCookie(state: string): string {
  return `parley-visit-${state.slice(0, 8)}`;
}

function queryOf({ url = '' }: HttpRequest): URLSearchParams {
  return new URL(url, 'http://localhost').searchParams;
}

function stateOf(request: HttpRequest): string {
  return queryOf(request).get('state') ?? '';
}
