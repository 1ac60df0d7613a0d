// What a person sees between a client and the identity provider. The consent of the person comes first, for each client: only then does the
// browser leave for the login, and only then does a `state` exist. Who comes back must be the browser that has agreed.
import type Provider from 'oidc-provider';
import type { Interaction } from 'oidc-provider';
import type { EventHub } from '../../../../kernel/events/event-hub.ts';
import type { FrontPages } from '../../../../kernel/login-pages.ts';
import type { Clock } from '../../../../kernel/base/clock.ts';
import { lazyCrypto, sha256 } from '../../../../kernel/crypto/lazy-crypto.ts';
import type { Log } from '../../../../kernel/base/log.ts';
import { cookiesNamed, isOwnOrigin, toSetCookie, readPost } from '../../../../kernel/net/browser-request.ts';
import type { Sealer } from '../../../../kernel/crypto/seal.ts';
import type { NodeVisit } from './node-visit.ts';
import type { FrontAdapter } from './front-store.ts';
import { RefusedPerson } from './person-login.ts';
import type { PersonAttempt, PersonClaims, PersonLogin } from './person-login.ts';

interface ConsentSetup {
  provider: Provider;
  person: PersonLogin;
  pages: FrontPages;
  sealer: Sealer;
  clock: Clock;
  log: Log;
  events?: EventHub | undefined;
  /** Logins that are under way, by their `state`. */
  attempts: FrontAdapter;
  /** Keeps the account, and returns its id. */
  keep: (claims: PersonClaims) => Promise<string>;
  /** The URL of this authorization server. */
  issuer: string;
  /** The scopes that may be granted. */
  grantable: readonly string[];
  /** The URL of /mcp. */
  endpoint: string;
}

interface KeptAttempt extends PersonAttempt {
  uid: string;
  clientId: string;
  /** The hash of the cookie of the browser that has agreed. */
  browser: string;
  accountId?: string | undefined;
}

const ATTEMPT_S = 600;
const COOKIE = 'parley_login';
const FORM_BYTES = 8 * 1024;

export class Consent {
  readonly #setup: ConsentSetup;

  constructor(setup: ConsentSetup) {
    this.#setup = setup;
  }

  /** `path`: the part after the path of the authorization server. False if it is not one of ours. */
  async handle(path: string, visit: NodeVisit): Promise<boolean> {
    const { method } = visit.request;
    const [, uid, rest] = /^\/interaction\/([\w-]{1,64})(\/done)?$/.exec(path) ?? [];
    if (path === '/callback' && method === 'GET') await this.#guarded(visit, () => this.#comeBack(visit));
    else if (uid === undefined) return false;
    else if (rest !== undefined && method === 'GET') await this.#guarded(visit, () => this.#finish(visit));
    else if (method === 'GET') await this.#guarded(visit, () => this.#show(visit));
    else if (method === 'POST') await this.#guarded(visit, () => this.#decide(visit));
    else return false;
    return true;
  }

  async #guarded({ response }: NodeVisit, go: () => Promise<void>): Promise<void> {
    const { log, pages, events } = this.#setup;
    try {
      await go();
    } catch (error) {
      const isPersons = error instanceof RefusedPerson;
      if (isPersons) {
        const { person, reason } = error;
        log.warn({ person, reason, option: 'auth.front.allow' }, 'front.person-refused');
        events?.prove({ kind: 'refusal', principal: person, outcome: 'PERSON_REFUSED', details: { reason } });
        pages.refused(response);
      } else {
        log.warn({ error }, 'front.login-failed');
        pages.gone(response);
      }
    }
  }

  async #show({ request, response }: NodeVisit): Promise<void> {
    const { provider, pages, sealer, endpoint } = this.#setup;
    const details = await provider.interactionDetails(request, response);
    const client = (await provider.Client.find(String(details.params['client_id'])))!;
    const redirect = new URL(String(details.params['redirect_uri']));
    pages.consent(response, {
      client: client.clientName ?? client.clientId,
      clientId: client.clientId,
      redirect: redirect.host === '' ? redirect.protocol : redirect.host,
      scopes: this.#askedScopes(details),
      resource: [details.params['resource'] ?? endpoint].flat().join(' '),
      // In the form, so that no other page can send it.
      token: sealer.seal('consent', details.uid, details.params['client_id']),
    });
  }

  async #decide({ request, response }: NodeVisit): Promise<void> {
    const { provider, pages, sealer, issuer } = this.#setup;
    const details = await provider.interactionDetails(request, response);
    const form = await readPost(request, FORM_BYTES);
    if (typeof form === 'string') return pages.gone(response);
    const isOwn = request.headers.origin === undefined || isOwnOrigin(request, new URL(issuer));
    const proof = sealer.open('consent', details.uid, String(form.get('token')));
    if (!isOwn || proof !== details.params['client_id']) return pages.gone(response);
    if (form.get('do') !== 'allow') {
      const refused = { error: 'access_denied', error_description: 'the person refused' };
      return pages.goOn(response, await provider.interactionResult(request, response, refused));
    }
    const accountId = details.session?.accountId;
    if (details.prompt.name === 'login' || accountId === undefined) return this.#leave({ request, response }, details);
    const consent = { grantId: await this.#grant(details, accountId) };
    pages.goOn(
      response,
      await provider.interactionResult(request, response, { consent }, { mergeWithLastSubmission: true }),
    );
  }

  /** The person has agreed, and goes to the identity provider. */
  async #leave({ response }: NodeVisit, details: Interaction): Promise<void> {
    const { attempts, person, pages, issuer } = this.#setup;
    const attempt = person.newAttempt();
    const browser = lazyCrypto().randomBytes(32).toString('base64url');
    const kept: KeptAttempt = {
      ...attempt,
      uid: details.uid,
      clientId: String(details.params['client_id']),
      browser: hashOf(browser),
    };
    await attempts.upsert(attempt.state, kept as never, ATTEMPT_S);
    const { protocol, pathname } = new URL(issuer);
    const isSecure = protocol === 'https:';
    const cookie = { name: cookieName(attempt.state), content: browser, path: pathname, seconds: ATTEMPT_S, isSecure };
    response.appendHeader('set-cookie', toSetCookie({ ...cookie, sameSite: 'Lax' }));
    pages.goOn(response, await person.pageFor(attempt));
  }

  /** The identity provider has sent the person back. Each attempt counts once. */
  async #comeBack({ request, response }: NodeVisit): Promise<void> {
    const { attempts, person, pages, keep, issuer, events } = this.#setup;
    const query = new URL(request.url ?? '', issuer).searchParams;
    const state = query.get('state') ?? '';
    const kept = (await attempts.find(state)) as unknown as KeptAttempt | undefined;
    const [browser] = cookiesNamed(cookieName(state), request.headers.cookie);
    if (!kept || kept.accountId !== undefined || browser === undefined || hashOf(browser) !== kept.browser)
      return pages.gone(response);
    await attempts.consume(state);
    const accountId = await keep(await person.finish(query, kept));
    events?.prove({
      kind: 'login',
      principal: `${issuer}#${accountId}`,
      outcome: 'ok',
      details: { client: kept.clientId },
    });
    await attempts.upsert(`uid ${kept.uid}`, { ...kept, accountId } as never, ATTEMPT_S);
    response.writeHead(303, { location: `${issuer}/interaction/${kept.uid}/done`, 'cache-control': 'no-store' }).end();
  }

  /** Back at the page of the client's request, with its cookie. */
  async #finish({ request, response }: NodeVisit): Promise<void> {
    const { provider, attempts, pages } = this.#setup;
    const details = await provider.interactionDetails(request, response);
    const id = `uid ${details.uid}`;
    const done = (await attempts.find(id)) as unknown as KeptAttempt | undefined;
    const [browser] = done ? cookiesNamed(cookieName(done.state), request.headers.cookie) : [];
    const isSame = browser !== undefined && hashOf(browser) === done!.browser;
    if (!done?.accountId || !isSame || done.clientId !== details.params['client_id']) return pages.gone(response);
    await attempts.consume(id);
    const grantId = await this.#grant(details, done.accountId);
    await provider.interactionFinished(request, response, {
      login: { accountId: done.accountId, remember: false },
      consent: { grantId },
    });
  }

  async #grant(details: Interaction, accountId: string): Promise<string> {
    const { provider } = this.#setup;
    const grant = new provider.Grant({ accountId, clientId: String(details.params['client_id']) });
    const scopes = this.#askedScopes(details).join(' ');
    grant.addOIDCScope(['openid', 'offline_access', scopes].join(' ').trim());
    const asked = [details.params['resource'] ?? this.#setup.endpoint].flat();
    for (const resource of asked) grant.addResourceScope(String(resource), scopes);
    return grant.save();
  }

  #askedScopes({ params }: Interaction): string[] {
    const asked = String(params['scope'] ?? '').split(' ');
    return this.#setup.grantable.filter((scope) => asked.includes(scope));
  }
}

/** Logins that are under way in one browser have several. */
function cookieName(state: string): string {
  return `${COOKIE}_${state.slice(0, 8)}`;
}

function hashOf(secret: string): string {
  return sha256(secret, 'base64url');
}
