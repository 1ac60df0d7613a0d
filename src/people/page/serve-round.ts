// Serves one round to a browser. GET shows it to the browser that owns it, and changes nothing; others see at most that it exists. POST is a
// browser that claims the round, or the answers of the one that owns it.
import { isOwnOrigin, isSecureVisit, toSetCookie, readPost } from '../../kernel/net/browser-request.ts';
import type { RoundAnswer, QuestionRound } from '../question-round.ts';
import { cookieName } from './page-owners.ts';
import type { PageVisit } from './page-visit.ts';
import { readForm } from './read-form.ts';
import type { FilledForm } from './read-form.ts';
import { renderForm } from './render/render-form.ts';
import { renderWaiting } from './render/render-page.ts';
import { toSections } from './render/sections.ts';

const PURPOSE = 'ask-form';
/** The limits for a form without files, and for a button. */
const FORM_BYTES = 1024 * 1024;
export const BUTTON_BYTES = 16 * 1024;

export function showRound(visit: PageVisit): void {
  const { request, reply, owners, handle, round, browser, closed } = visit;
  const outcome = owners.outcomeOf(handle, request.headers.cookie);
  if (browser !== undefined) {
    if (outcome) return reply.done(outcome);
    return round?.isOpen ? showForm(visit, 200) : reply.closed(closed);
  }
  // The browser withholds our cookie from a request that another site began, such as a click in a conversation. Whether
  // it owns the round shows only when it continues from our page.
  const mayHaveCookie = request.headers['sec-fetch-site'] === 'cross-site';
  const isWaiting = owners.isBound(handle) ? mayHaveCookie : round?.isOpen;
  if (isWaiting) return reply.page(200, renderWaiting(visit.token, visit.words));
  return closed ? reply.closed(closed) : reply.gone();
}

/** Shows `filled` again with its problems. */
function showForm(visit: PageVisit, status: number, filled?: readonly FilledForm[]): void {
  const { reply, token, words, clock } = visit;
  const round = visit.round!;
  const minutes = Math.max(1, Math.ceil((round.expiresAt - clock.now()) / 60_000));
  const csrf = toCsrf(visit);
  reply.page(status, renderForm({ round, sections: toSections(round), filled, token, csrf, minutes, words }));
}

type FormOwner = Pick<PageVisit, 'sealer' | 'handle' | 'browser'>;

/** A token that is valid for one round in one browser. */
export function toCsrf({ sealer, handle, browser }: FormOwner): string {
  return sealer.seal(PURPOSE, `${handle} ${browser}`, true);
}

export function isOurForm({ sealer, handle, browser }: FormOwner, csrf: unknown): boolean {
  return typeof csrf === 'string' && sealer.open(PURPOSE, `${handle} ${browser}`, csrf) === true;
}

export async function receiveForm(visit: PageVisit): Promise<void> {
  const { request, reply, log, handle } = visit;
  const maxBytes = maxBytesOf(visit);
  const form = await readPost(request, maxBytes);
  if (!isOwnOrigin(request, visit.base)) {
    log.warn({ handle, origin: request.headers.origin }, 'ask.page-foreign-origin');
    return reply.forged();
  }
  if (form === 'not-a-form') return reply.notAForm();
  if (form === 'too-large') return reply.tooLarge(maxBytes);
  return form.get('do') === 'open' ? open(visit) : answer(visit, form);
}

async function open(visit: PageVisit): Promise<void> {
  const { owners, handle, round, closed, browser, reply, token, log } = visit;
  if (browser !== undefined) return reply.seeAgain(token);
  if (closed) return reply.closed(closed);
  const content = round?.isOpen ? await owners.bind(round) : undefined;
  if (content === undefined) return reply.gone();
  log.info({ handle }, 'ask.page-opened');
  reply.seeAgain(token, { 'set-cookie': toRoundCookie(visit, content) });
}

function toRoundCookie(visit: PageVisit, content: string): string {
  const { handle, round, clock } = visit;
  // At least ten minutes, so that a changed system time does not drop the cookie.
  const seconds = Math.max(600, Math.ceil((round!.expiresAt - clock.now()) / 1000));
  return toCookie(visit, { name: cookieName(handle), content, seconds });
}

interface VisitCookie {
  name: string;
  content: string;
  seconds: number;
  /** Below that of all links unless set. */
  path?: string;
}

export function toCookie(
  { links, base, request }: PageVisit,
  { name, content, seconds, path: own = links.path }: VisitCookie,
): string {
  const path = pathBelow(base, own);
  return toSetCookie({ name, content, path, seconds, sameSite: 'Strict', isSecure: isSecureVisit(request, base) });
}

export function pathBelow(base: URL, path: string): string {
  return `${base.pathname.replace(/\/+$/, '')}${path}`;
}

async function answer(visit: PageVisit, form: FormData): Promise<void> {
  const { reply, browser, round, handle, log } = visit;
  if (browser === undefined) return visit.closed ? reply.closed(visit.closed) : reply.gone();
  if (!isOurForm(visit, form.get('csrf'))) {
    log.warn({ handle }, 'ask.page-forged');
    return reply.forged();
  }
  if (!round?.isOpen) return reply.closed(visit.closed);
  if (form.get('do') === 'hand-over') return handOver(visit, form.get('to'));
  const action = round.isOthers && form.get('do') === 'cancel' ? 'decline' : form.get('do');
  if (action === 'decline' || action === 'cancel') return settle(visit, toAll(round, action), action);
  const sections = toSections(round);
  const read = await readForm(sections, form);
  if (read.filled) return showForm(visit, 422, read.filled);
  const isAccepted = Object.values(read.answers).some((one) => one.action === 'accept');
  return settle(visit, read.answers, isAccepted ? 'accept' : 'decline');
}

async function handOver(visit: PageVisit, to: unknown): Promise<void> {
  const { reply, round, handle, log } = visit;
  const { handOver } = round!;
  if (typeof to !== 'string' || !handOver?.to.includes(to)) return reply.forged();
  const given = await handOver.give(to);
  if ('again' in given) return showForm({ ...visit, round: given.again }, 422);
  if (given.closed !== 'handed-over') return reply.closed(given.closed);
  log.info({ handle }, 'ask.page-handed-over');
  reply.handedOver();
}

async function settle(
  visit: PageVisit,
  answers: Record<string, RoundAnswer>,
  outcome: RoundAnswer['action'],
): Promise<void> {
  const { reply, round, handle, browser, owners, token, log } = visit;
  const taken = await round!.answer(answers, 'page', visit.who);
  if (typeof taken === 'object') {
    return 'again' in taken ? showForm({ ...visit, round: taken.again }, 422) : reply.closed(taken.closed);
  }
  if (!taken) return reply.closed();
  const content = owners.settle(handle, browser!, outcome);
  log.info({ handle, outcome }, 'ask.page-answered');
  reply.seeAgain(token, content === undefined ? {} : { 'set-cookie': toRoundCookie(visit, content) });
}

function toAll({ questions }: QuestionRound, action: 'decline' | 'cancel'): Record<string, RoundAnswer> {
  return Object.fromEntries(questions.map(({ key }) => [key, { action }]));
}

/** Only the owner of a round can make us read more than a button. */
function maxBytesOf({ round, browser, maxBytes }: PageVisit): number {
  if (!round?.isOpen || browser === undefined) return BUTTON_BYTES;
  const hasFile = toSections(round).some(({ fields }) => fields.some(({ kind }) => kind === 'file'));
  return hasFile ? maxBytes : Math.min(FORM_BYTES, maxBytes);
}
