// How a browser gets into the console: with a code that the operator's terminal shows, which works once and pairs it, or by the login of the pages.
// 1. Opening a link changes nothing: our page sends the code, from its own origin. It stands behind the `#` of the link, so that no server sees it.
// 2. A paired browser is the same here and at the answer page: it gets the same cookie for both, each at a path that only it knows.
import type { PageLogin } from '../../../kernel/login-pages.ts';
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { isOwnOrigin, isSecureVisit, readPost, toSetCookie } from '../../../kernel/net/browser-request.ts';
import type { HumanChannel } from '../../../people/human-channel.ts';
import { toAskPath } from '../../../people/page/page-visit.ts';
import { pathBelow } from '../../../people/page/serve-round.ts';
import { sendJson } from './replies.ts';
import type { WayInView } from './views.ts';

/** Below it, each browser has a part that it alone knows. */
const API_PATH = '/console/api';
const YEAR_SECONDS = 365 * 86_400;
const FORM_BYTES = 16 * 1024;

/** What a browser can do that nobody has let in. */
async function toWayIn(pageLogin: PageLogin | undefined, request: HttpRequest): Promise<WayInView> {
  return {
    login: pageLogin?.hostFor(undefined) ?? null,
    isLoggedIn: (await pageLogin?.visitorOf(request)) !== undefined,
  };
}

export interface EnterContext {
  readonly people: HumanChannel;
  readonly log: Log;
}

/** The URL at which browsers reach us. Where nobody has said it, the one that this browser uses; the guard has checked its Host. */
export async function baseOf({ people }: Pick<EnterContext, 'people'>, request: HttpRequest): Promise<URL> {
  const scheme = 'encrypted' in request.socket ? 'https' : 'http';
  return new URL((await people.pageEndpoint.address()) ?? `${scheme}://${request.headers.host}`);
}

export async function enter(context: EnterContext, request: HttpRequest, response: HttpResponse): Promise<void> {
  const { people, log } = context;
  if (request.method === 'GET') return sendJson(request, response, 200, await toWayIn(people.proof.pageLogin, request));
  if (request.method !== 'POST') return sendJson(request, response, 405, { error: 'GET or POST' });
  const base = await baseOf(context, request);
  const form = await readPost(request, FORM_BYTES);
  if (!isOwnOrigin(request, base)) {
    log.warn({ origin: request.headers.origin }, 'console.foreign-origin');
    return sendJson(request, response, 403, { error: 'This did not come from the console itself.' });
  }
  if (typeof form === 'string') return sendJson(request, response, 415, { error: 'This is not a form.' });
  const { pageLogin } = people.proof;
  if (form.get('do') === 'login' && pageLogin) return pageLogin.begin({ request, response, back: '/' });
  if (form.get('do') === 'logout' && pageLogin) {
    await pageLogin.logOut({ request, response });
    return sendJson(request, response, 200, {});
  }
  const code = form.get('code');
  if (typeof code !== 'string') return sendJson(request, response, 400, { error: 'Send a code.' });
  const pairings = await people.proof.pairings();
  const redeemed = await pairings.redeem(code, request.headers['user-agent']);
  if (typeof redeemed === 'string') {
    log.warn({ outcome: redeemed }, 'pair.refused');
    return sendJson(request, response, redeemed === 'wrong' ? 403 : 429, { error: redeemed });
  }
  log.warn({ browser: redeemed.browser.name, user: redeemed.browser.user }, 'pair.done');
  const kept = {
    name: pairings.cookieName,
    content: redeemed.cookie,
    seconds: YEAR_SECONDS,
    sameSite: 'Strict',
  } as const;
  const isSecure = isSecureVisit(request, base);
  const key = await pairings.path();
  const paths = [`${API_PATH}/${key}`, toAskPath(key)].map((path) => pathBelow(base, path));
  response.setHeader(
    'set-cookie',
    paths.map((path) => toSetCookie({ ...kept, path, isSecure })),
  );
  sendJson(request, response, 200, { key });
}
