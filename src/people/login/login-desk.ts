// Logins at servers that a person has to finish in a browser. A login belongs to the principal whose call needed it: its link, its
// page and the way back from the authorization server are bound to that principal and to the first browser that continues. It ends
// when it is finished, or after ten minutes. The pages are loaded when the first link is opened.
import type { Ask, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { ELICITATION_COMPLETED, ELICIT_INPUT } from '../../kernel/methods.ts';
import { randomId } from '../../kernel/crypto/ids.ts';
import { cancelledBy, cancelledError } from '../../kernel/base/cancelled-error.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { HttpHandler } from '../../kernel/base/http.ts';
import { rejectOnAbort } from '../../kernel/base/timing.ts';
import { LOGIN_PATH, CALLBACK_PATH } from './open-login.ts';
import type { BrowserLogin, LoginSubject, OpenLogin, LoginDeskOptions, OpenLogins } from './open-login.ts';

const LIFE_MS = 10 * 60_000;
/** Of all principals; more are refused. */
const MAX_OPEN = 1000;

const ACCEPTED: JsonObject = { action: 'accept' };

export class LoginDesk implements OpenLogins {
  readonly options: LoginDeskOptions;
  readonly #open = new Map<string, OpenLogin>();
  #loaded: Promise<HttpHandler> | undefined;

  constructor(options: LoginDeskOptions) {
    this.options = options;
  }

  readonly pages: Record<string, HttpHandler> = {
    [LOGIN_PATH]: (request, response) => this.#show(request, response),
    [CALLBACK_PATH]: (request, response) => this.#show(request, response),
  };

  /**
   * Asks the user of a call to log in at a server, and resolves when somebody has. The link goes by whatever channel the client has: its own
   * page opener, its form, or its model. The client's answer only says that the user will go there. Rejects with an error that has the link
   * if the user cannot be asked or refuses.
   */
  async ask(exchange: Exchange, server: string, login: BrowserLogin): Promise<void> {
    const { principal, connection } = exchange.client;
    const { key, subject } = connection?.identity ?? {};
    const user = connection?.identity && (subject ?? key ?? principal);
    const opened = await this.#openFor(login, { server, principal, user });
    if (!opened) throw new GatewayError('UPSTREAM_LOGIN_NEEDED', { server });
    const { open, link } = opened;
    const needed = (): GatewayError => new GatewayError('UPSTREAM_LOGIN_LINK', { server, link });
    const isDone = new AbortController();
    const done = open.done.finally(() => isDone.abort());
    done.catch(() => {});
    const asked = exchange.ask(toAsk(exchange, { server, link, id: open.id }), isDone.signal);
    const { action } = await Promise.race([done.then(() => ACCEPTED), asked]).catch((thrown: unknown) => {
      if (isDone.signal.aborted) return ACCEPTED;
      if (isRefusal(thrown)) throw needed();
      throw thrown;
    });
    asked.catch(() => {}); // withdrawn
    if (action !== 'accept') throw needed();
    if (!isDone.signal.aborted) exchange.waits?.(`it waits until the user has logged in at ${link}`, isDone.signal);
    await rejectOnAbort(done, exchange.signal, () => cancelledBy(exchange.signal));
    tellVisited(exchange, open.id);
  }

  /** The login of this principal, which may be under way already, and its link; undefined if browsers cannot reach us. */
  async #openFor(login: BrowserLogin, subject: LoginSubject): Promise<{ open: OpenLogin; link: string } | undefined> {
    const base = await this.options.host().base();
    if (base === undefined) return undefined;
    const same = (one: OpenLogin): boolean => one.login === login && one.principal === subject.principal;
    const open = [...this.#open.values()].find(same) ?? this.#create(login, subject);
    return { open, link: `${base.replace(/\/+$/, '')}${LOGIN_PATH}?t=${open.id}` };
  }

  byId(id: string): OpenLogin | undefined {
    return this.#open.get(id);
  }

  byState(state: string): OpenLogin | undefined {
    if (state === '') return undefined;
    return [...this.#open.values()].find(({ attempt }) => attempt?.state === state);
  }

  /** Somebody has logged in: everybody who waits for the same account continues. */
  finish({ login }: OpenLogin): void {
    for (const one of this.#open.values()) if (one.login === login) one.end();
  }

  close(): void {
    for (const one of this.#open.values()) one.end(cancelledError('gone'));
  }

  #create(login: BrowserLogin, subject: LoginSubject): OpenLogin {
    if (this.#open.size >= MAX_OPEN) throw new GatewayError('TOO_MANY', { what: 'logins at once', limit: MAX_OPEN });
    const { server } = subject;
    const id = randomId() + this.options.mark;
    let [resolve, reject] = [(): void => {}, (_: Error): void => {}];
    const done = new Promise<void>((...both) => ([resolve, reject] = both));
    done.catch(() => {}); // nobody may be waiting any more
    const end = (error?: GatewayError): void => {
      stop();
      this.#open.delete(id);
      if (error) reject(error);
      else resolve();
    };
    const late = { server, reason: `nobody logged in within ${LIFE_MS / 60_000} minutes` };
    const stop = this.options.clock.after(LIFE_MS, () => end(new GatewayError('UPSTREAM_LOGIN_FAILED', late)));
    const open: OpenLogin = { ...subject, id, login, done, end };
    this.#open.set(id, open);
    return open;
  }

  #show: HttpHandler = (request, response) => {
    this.#loaded ??= import('./login-page.ts').then(({ serveLoginPage }) => serveLoginPage(this));
    this.#loaded.then(
      (handler) => handler(request, response),
      () => response.writeHead(503).end(),
    );
  };
}

/** A client that shows forms but opens no pages gets the link in the text of an empty form. */
function toAsk({ client }: Exchange, { server, link, id }: { server: string; link: string; id: string }): Ask {
  const { elicitation } = client.capabilities;
  const rest = { method: ELICIT_INPUT, key: 'login', ofGateway: true, isBefore: true };
  if (elicitation && !elicitation.url) {
    const message = `${server} needs a login. Open ${link} in your browser, log in, and confirm here.`;
    return { ...rest, params: { message, requestedSchema: { type: 'object', properties: {} } } };
  }
  const message = `${server} needs a login. Open the page and log in; the call then continues.`;
  return { ...rest, params: { mode: 'url', message, url: link, elicitationId: id } };
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof GatewayError && (thrown.code === 'CLIENT_CANNOT_BE_ASKED' || thrown.code === 'ASK_REFUSED');
}

/** So that the client closes what it shows. */
function tellVisited(exchange: Exchange, elicitationId: string): void {
  const { era, capabilities } = exchange.client;
  if (era.reportsVisits && capabilities.elicitation?.url) exchange.notify(ELICITATION_COMPLETED, { elicitationId });
}
