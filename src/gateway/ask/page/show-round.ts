// Handles GET: shows a round to the browser that owns it; others see at most that it exists. Changes nothing.
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
  // The browser withholds our cookie from a request that another site began, such as a click in a conversation. Whether
  // it owns the round shows only when it continues from our page.
  const mayHaveCookie = request.headers['sec-fetch-site'] === 'cross-site';
  const isWaiting = owners.isBound(handle) ? mayHaveCookie : round?.isOpen;
  if (isWaiting) return reply.page(200, renderWaiting(visit.token, visit.words));
  return closed ? reply.closed(closed) : reply.gone();
}

/** Shows `filled` again with its problems. */
export function showForm(visit: PageVisit, status: number, filled?: readonly FilledForm[]): void {
  const { reply, token, words, clock } = visit;
  const round = visit.round!;
  const minutes = Math.max(1, Math.ceil((round.expiresAt - clock.now()) / 60_000));
  const csrf = toCsrf(visit);
  reply.page(status, renderForm({ round, sections: toSections(round), filled, token, csrf, minutes, words }));
}

const PURPOSE = 'ask-form';

type FormOwner = Pick<PageVisit, 'sealer' | 'handle' | 'browser'>;

/** A token that is valid for one round in one browser. */
export function toCsrf({ sealer, handle, browser }: FormOwner): string {
  return sealer.seal(PURPOSE, `${handle} ${browser}`, true);
}

export function isOurForm({ sealer, handle, browser }: FormOwner, csrf: unknown): boolean {
  return typeof csrf === 'string' && sealer.open(PURPOSE, `${handle} ${browser}`, csrf) === true;
}
