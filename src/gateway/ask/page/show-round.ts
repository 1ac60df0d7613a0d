// GET: shows a round to the browser that it belongs to, and to others at most that there is one. Changes nothing.
import { renderForm } from './render/render-form.ts';
import { renderWaiting } from './render/render-page.ts';
import type { FilledForm } from './read-form.ts';
import { toSections } from './render/sections.ts';
import type { PageVisit } from './page-visit.ts';

export function showRound(visit: PageVisit): void {
  const { request, reply, owners, handle, round, browser, closed } = visit;
  const outcome = owners.outcomeOf(handle, request.headers.cookie);
  if (browser !== undefined) {
    if (outcome) return reply.done(outcome);
    return round?.isOpen ? showForm(visit, 200) : reply.closed(closed);
  }
  // Our cookie stays away from a request that another site began, e.g. by a click in a conversation: that this is another
  // browser shows only when it continues from our own page.
  const mayHaveCookie = request.headers['sec-fetch-site'] === 'cross-site';
  const isWaiting = owners.isBound(handle) ? mayHaveCookie : round?.isOpen;
  if (isWaiting) return reply.page(200, renderWaiting(visit.token, visit.words));
  return closed ? reply.closed(closed) : reply.gone();
}

/** `filled` is shown again with what is wrong with it. */
export function showForm(visit: PageVisit, status: number, filled?: readonly FilledForm[]): void {
  const { reply, token, words, clock } = visit;
  const round = visit.round!;
  const minutes = Math.max(1, Math.ceil((round.expiresAt - clock.now()) / 60_000));
  const csrf = toCsrf(visit);
  reply.page(status, renderForm({ round, sections: toSections(round), filled, token, csrf, minutes, words }));
}

const PURPOSE = 'ask-form';

/** Opens for one round in one browser alone. */
function toCsrf({ sealer, handle, browser }: PageVisit): string {
  return sealer.seal(PURPOSE, `${handle} ${browser}`, true);
}

export function isOurForm({ sealer, handle, browser }: PageVisit, csrf: unknown): boolean {
  return typeof csrf === 'string' && sealer.open(PURPOSE, `${handle} ${browser}`, csrf) === true;
}
