// Who is at the browser, for questions that only a person may answer: it has to be paired with this gateway, or logged in. A browser that
// is neither can log in, or enter the code that the operator's terminal shows. It learns nothing about the question before that.
import type { PageLogin } from '../../kernel/login-pages.ts';
import type { HttpRequest } from '../../kernel/base/http.ts';
import { isOwnOrigin, readPost } from '../../kernel/net/browser-request.ts';
import type { AnswerTrust } from '../trust/answer-trust.ts';
import { isForHuman } from '../trust/answer-trust.ts';
import type { Pairings } from '../trust/pairings.ts';
import type { QuestionRound } from '../question-round.ts';
import { BUTTON_BYTES, isOurForm, pathBelow, toCookie, toCsrf } from './serve-round.ts';
import { renderOpenQuestions, renderPairing } from './render/render-pairing.ts';
import type { PairingView } from './render/render-pairing.ts';
import { ASK_PATH, toAskPath } from './page-visit.ts';
import type { PageVisit } from './page-visit.ts';
import { renderNotice, renderWaiting } from './render/render-page.ts';
import { fill } from './locales/page-words.ts';

/** What the page needs to know about people. */
export interface VisitorProof {
  readonly answerTrust: Pick<AnswerTrust, 'isStrict' | 'proofOf'>;
  pairings(): Promise<Pairings>;
  readonly pageLogin?: PageLogin | undefined;
  /** The open questions, for a paired browser without a link. */
  rounds(): Iterable<QuestionRound>;
  /** Those of other gateways that serve as one with this one. They are shown here, and answered there. */
  elsewhere(): Promise<readonly QuestionRound[]>;
}

const YEAR_SECONDS = 365 * 86_400;
/** In place of the handle of a round. */
const LOGOUT = 'logout';

/** Whether a browser has to be proven before it sees or answers the round. */
export function needsProof({ answerTrust }: VisitorProof, round: QuestionRound | undefined): boolean {
  return round !== undefined && answerTrust.isStrict && isForHuman(round) && round.isVouched !== true;
}

/** For a browser that is not proven: asks for a code, or takes it. */
export async function pairBrowser(visit: PageVisit, proof: VisitorProof): Promise<void> {
  const { request, reply, token, words } = visit;
  if (request.method === 'POST') return receiveCode(visit, proof);
  // The browser withholds our cookie from a request that another site began. It sends it once the person continues from here.
  if (token !== '' && request.headers['sec-fetch-site'] === 'cross-site')
    return reply.page(200, renderWaiting(token, words));
  reply.page(200, renderPairing({ token, words, code: codeOf(request), login: await loginFor(visit, proof) }));
}

/** Where the person may log in instead, and whether somebody else is logged in here. */
async function loginFor({ request, round }: PageVisit, { pageLogin }: VisitorProof): Promise<PairingView['login']> {
  const host = pageLogin?.hostFor(round && (round.user ?? '')); // a caller without a login cannot log in there
  return host === undefined ? undefined : { host, isOther: (await pageLogin!.visitorOf(request)) !== undefined };
}

async function receiveCode(visit: PageVisit, proof: VisitorProof): Promise<void> {
  const { request, reply, token, words, log } = visit;
  const form = await readPost(request, BUTTON_BYTES);
  if (!isOwnOrigin(request, visit.base)) {
    log.warn({ origin: request.headers.origin }, 'ask.page-foreign-origin');
    return reply.forged();
  }
  if (typeof form === 'string') return reply.notAForm();
  const login = await loginFor(visit, proof);
  if (form.get('do') === 'login' && login) {
    return proof.pageLogin!.begin({ request, response: visit.response, back: `${ASK_PATH}?t=${token}` });
  }
  if (form.get('do') === 'logout' && proof.pageLogin) return logOut(visit, proof.pageLogin, form.get('csrf'));
  const code = form.get('code');
  if (form.get('do') !== 'pair' || typeof code !== 'string') {
    return reply.page(200, renderPairing({ token, words, code: codeOf(request), login }));
  }
  const pairings = await proof.pairings();
  const redeemed = await pairings.redeem(code, request.headers['user-agent']);
  if (typeof redeemed === 'string') {
    log.warn({ outcome: redeemed }, 'pair.refused');
    return reply.page(redeemed === 'wrong' ? 403 : 429, renderPairing({ token, words, problem: redeemed, login }));
  }
  log.warn({ browser: redeemed.browser.name, user: redeemed.browser.user }, 'pair.done');
  const path = toAskPath(await pairings.path());
  const cookie = toCookie(visit, { name: pairings.cookieName, content: redeemed.cookie, seconds: YEAR_SECONDS, path });
  reply.seeAgain(token, { 'set-cookie': cookie }, pathBelow(visit.base, path));
}

async function logOut(visit: PageVisit, pageLogin: PageLogin, csrf: unknown): Promise<void> {
  const { request, reply, sealer, words, log } = visit;
  const visitor = await pageLogin.visitorOf(request);
  if (visitor === undefined) return reply.seeAgain('');
  if (!isOurForm({ sealer, handle: LOGOUT, browser: visitor }, csrf)) {
    log.warn({ visitor }, 'ask.page-forged');
    return reply.forged();
  }
  await pageLogin.logOut(visit);
  const text = fill(words.pairing.loggedOutText, { host: pageLogin.hostFor(undefined)! });
  reply.page(200, renderNotice(words.pairing.loggedOut, text, words, true));
}

/** The page without a link: the open questions that this browser may answer. */
export async function showOpenQuestions(
  visit: PageVisit,
  proof: VisitorProof,
  linkTo: (round: QuestionRound) => string,
): Promise<void> {
  const { request, reply, words, sealer } = visit;
  const paired = await (await proof.pairings()).find(request.headers.cookie);
  const visitor = await proof.pageLogin?.visitorOf(request);
  const isPost = request.method === 'POST';
  if (visitor === undefined ? !paired : isPost) return pairBrowser(visit, proof);
  if (isPost) return reply.notAForm();
  const open: { link: string; about: QuestionRound['about'] }[] = [];
  for (const round of [...proof.rounds(), ...(await proof.elsewhere())]) {
    const isTheirs =
      round.isOpen && needsProof(proof, round) && (await proof.answerTrust.proofOf(round, request)) !== undefined;
    if (isTheirs) open.push({ link: linkTo(round), about: round.about });
  }
  const csrf = () => toCsrf({ sealer, handle: LOGOUT, browser: visitor });
  reply.page(
    200,
    renderOpenQuestions(open, words, visitor === undefined ? undefined : { name: visitor, csrf: csrf() }),
  );
}

function codeOf({ url = '' }: HttpRequest): string {
  const query = url.indexOf('?');
  const code = query === -1 ? '' : (new URLSearchParams(url.slice(query)).get('c') ?? '');
  return /^[A-Z0-9-]{1,20}$/i.test(code) ? code : '';
}
