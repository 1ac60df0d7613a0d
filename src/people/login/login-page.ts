// The pages of a login at a server: the first says who logs in where and leads to the authorization server, the second is where that
// server sends the browser back to.
// 1. Opening the link changes nothing, so previews cannot use it up. The first browser that continues gets a cookie; no other can continue.
// 2. Where callers can log in at pages, only a browser in which the caller is logged in can continue.
// 3. What comes back counts once, in that browser, for the state that was sent out.
// 4. A link or state that does not work gives no reason.
import { randomId } from '../../kernel/crypto/ids.ts';
import { isSameSecret, sha256 } from '../../kernel/crypto/lazy-crypto.ts';
import { cookiesNamed, isOwnOrigin, isSecureVisit, toSetCookie, readPost } from '../../kernel/net/browser-request.ts';
import { toError } from '../../kernel/base/errors.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../kernel/base/http.ts';
import { html } from '../page/render/html.ts';
import { HEADERS, renderNotice, renderPage, sendPage } from '../page/render/render-page.ts';
import { loggedPrincipal } from '../../kernel/base/anonymous.ts';
import { wordsFor } from '../page/locales/page-words.ts';
import type { BrowserAttempt, OpenLogin, OpenLogins } from './open-login.ts';
import { CALLBACK_PATH, LOGIN_PATH } from './open-login.ts';

const WORDS = wordsFor('en');
const COOKIE = 'parley-login';
const COOKIE_SECONDS = 600;
const BUTTON_BYTES = 16 * 1024;
/** The form leads to another site, which `form-action` would forbid. */
const OPEN_HEADERS = {
  ...HEADERS,
  'content-security-policy': HEADERS['content-security-policy']!.replace(/ ?form-action 'self';/, ''),
};

export function serveLoginPage(desk: OpenLogins): HttpHandler {
  return (request, response) => {
    const visit = new LoginVisit(desk, request, response);
    visit.receive().catch((cause: unknown) => {
      if (response.destroyed) return; // the browser hung up
      desk.options.log.error({ cause }, 'login.page-failed');
      visit.notice(500, 'Something went wrong', 'Please try again.');
    });
  };
}

class LoginVisit {
  readonly #desk: OpenLogins;
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  readonly #url: URL;

  constructor(desk: OpenLogins, request: HttpRequest, response: HttpResponse) {
    this.#desk = desk;
    this.#request = request;
    this.#response = response;
    this.#url = new URL(request.url ?? '/', 'http://localhost');
  }

  async receive(): Promise<void> {
    const { method } = this.#request;
    const isBack = this.#url.pathname.endsWith(CALLBACK_PATH);
    if (method !== 'GET' && method !== 'HEAD' && (method !== 'POST' || isBack)) {
      this.#response.setHeader('allow', isBack ? 'GET, HEAD' : 'GET, HEAD, POST');
      return this.notice(405, 'Not here', 'This page cannot be used in this way.');
    }
    const { searchParams } = this.#url;
    const open = isBack
      ? this.#desk.byState(searchParams.get('state') ?? '')
      : this.#desk.byId(searchParams.get('t') ?? '');
    if (!open || !(await this.#isTheirs(open))) return this.#gone();
    if (isBack) return method === 'GET' ? this.#comeBack(open) : this.#gone();
    return method === 'POST' ? this.#goOn(open) : this.#show(open);
  }

  notice(status: number, title: string, text: string, isDone = false): void {
    this.#page(status, renderNotice(title, text, WORDS, isDone));
  }

  #gone(): void {
    this.notice(
      404,
      'Nothing here',
      'This link belongs to no login that is under way. Ask for a new one where you got it.',
    );
  }

  async #isTheirs({ principal }: OpenLogin): Promise<boolean> {
    const { identify, trustsLinks = false } = this.#desk.options.host();
    if (!identify) return true;
    const visitor = await identify(this.#request);
    return visitor === undefined ? trustsLinks : visitor === principal;
  }

  /** Where the caller has to log in at our page first; undefined if that is done, or if there is no such login. */
  async #mustLogInAt({ principal }: OpenLogin): Promise<string | undefined> {
    const { pageLogin } = this.#desk.options.host();
    const host = pageLogin?.hostFor(principal);
    return host !== undefined && (await pageLogin!.visitorOf(this.#request)) !== principal ? host : undefined;
  }

  async #show(open: OpenLogin): Promise<void> {
    const { id, server, user } = open;
    const host = await this.#mustLogInAt(open);
    if (host === undefined) return this.#offer(open);
    const body = html`<div class="card">
      <h1>Log in as ${user ?? ''}</h1>
      <p>
        ${user ?? ''} wants to log in at ${server} and has sent you here. Only their own browser can go on, so that no
        other person's account is used.
      </p>
      <form method="post" action="?t=${id}">
        <div class="buttons"><button name="do" value="visit" class="primary">Log in at ${host}</button></div>
      </form>
    </div>`;
    this.#page(200, renderPage({ title: `Log in as ${user ?? ''}`, body, words: WORDS }));
  }

  #offer({ id, server, user }: OpenLogin): void {
    const whose = user === undefined ? 'this gateway' : `${user} at this gateway`;
    const body = html`<div class="card">
      <h1>Log in at ${server}</h1>
      <p>
        After the login, ${whose} uses ${server} with your account. Continue only if you have just asked for this
        yourself.
      </p>
      <form method="post" action="?t=${id}">
        <div class="buttons"><button name="do" value="continue" class="primary">Continue</button></div>
      </form>
    </div>`;
    this.#page(200, renderPage({ title: `Log in at ${server}`, body, words: WORDS }));
  }

  async #goOn(open: OpenLogin): Promise<void> {
    const { log } = this.#desk.options;
    const base = new URL((await this.#desk.options.host().base())!);
    await readPost(this.#request, BUTTON_BYTES);
    if (!isOwnOrigin(this.#request, base)) {
      log.warn({ server: open.server, origin: this.#request.headers.origin }, 'login.page-foreign-origin');
      return this.notice(403, 'Not possible', 'This did not come from our own page.');
    }
    if ((await this.#mustLogInAt(open)) !== undefined) {
      const visit = { request: this.#request, response: this.#response, back: `${LOGIN_PATH}?t=${open.id}` };
      return this.#desk.options.host().pageLogin!.begin(visit);
    }
    if (open.browser !== undefined && !this.#isSameBrowser(open)) return this.#gone();
    const browser = (open.browser ??= randomId());
    const attempt = await this.#begin(open, base);
    if (!attempt) return;
    open.attempt = attempt;
    attempt.finished?.then(
      () => this.#desk.finish(open),
      () => {}, // the page of that port says so, and the link can be used again
    );
    this.#response.writeHead(303, {
      ...OPEN_HEADERS,
      location: attempt.url,
      'set-cookie': cookieOf(open, browser, { base, request: this.#request }),
      'content-length': 0,
    });
    this.#response.end();
  }

  async #begin(open: OpenLogin, base: URL): Promise<BrowserAttempt | undefined> {
    try {
      return await open.login.begin(`${base.href.replace(/\/+$/, '')}${CALLBACK_PATH}`, this.#desk.options.mark);
    } catch (thrown) {
      this.#failed(open, thrown);
      return undefined;
    }
  }

  async #comeBack(open: OpenLogin): Promise<void> {
    if (!this.#isSameBrowser(open) || (await this.#mustLogInAt(open)) !== undefined) return this.#gone();
    const attempt = open.attempt!;
    open.attempt = undefined; // a state counts once
    try {
      await attempt.finish(this.#url.searchParams);
    } catch (thrown) {
      return this.#failed(open, thrown);
    }
    const { server, principal } = open;
    this.#desk.options.log.info({ server, principal: loggedPrincipal(principal) }, 'login.done');
    this.#desk.finish(open);
    this.notice(
      200,
      `You are logged in at ${server}`,
      'You can close this window and go back to your conversation.',
      true,
    );
  }

  #failed({ server, principal }: OpenLogin, thrown: unknown): void {
    const { message } = toError(thrown);
    const { log, events } = this.#desk.options;
    const who = loggedPrincipal(principal);
    log.warn({ server, principal: who, reason: message }, 'login.failed');
    events?.tell({ kind: 'login', server, principal: who, outcome: 'failed', details: { reason: message } });
    this.notice(502, 'The login failed', `${message}. You can open the link again.`);
  }

  #isSameBrowser(open: OpenLogin): boolean {
    const [sent] = cookiesNamed(cookieName(open), this.#request.headers.cookie);
    return sent !== undefined && open.browser !== undefined && isSameSecret(sent, open.browser);
  }

  #page(status: number, text: string): void {
    sendPage({ request: this.#request, response: this.#response }, status, { text, headers: OPEN_HEADERS });
  }
}

function cookieName({ id }: OpenLogin): string {
  return `${COOKIE}-${sha256(id, 'hex').slice(0, 16)}`;
}

/** Lax: the authorization server leads back here from another site. */
function cookieOf(open: OpenLogin, browser: string, { base, request }: { base: URL; request: HttpRequest }): string {
  const path = base.pathname.replace(/\/+$/, '') || '/';
  const isSecure = isSecureVisit(request, base);
  const cookie = { name: cookieName(open), content: browser, path, seconds: COOKIE_SECONDS, isSecure };
  return toSetCookie({ ...cookie, sameSite: 'Lax' });
}
