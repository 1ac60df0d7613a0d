// When a session expires, and when it wants to be looked at before that.
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';

const MAX_NOTICE_MS = 30_000;

/** The user has done something: he has the whole span again, as far as the session lasts. */
export function toExpiry(header: Header, now: number): Pick<Header, 'lastActivityAt' | 'expiresAt' | 'warned'> {
  return { lastActivityAt: now, expiresAt: Math.min(now + header.timeoutMs, header.deadline), warned: undefined };
}

/** When a fifth of the span is left, at most half a minute. */
export function toWarningAt({ expiresAt, timeoutMs }: Pick<Header, 'expiresAt' | 'timeoutMs'>): number {
  return expiresAt - Math.min(timeoutMs / 5, MAX_NOTICE_MS);
}

export function toDueAt(header: Pick<Header, 'expiresAt' | 'timeoutMs' | 'current' | 'warned'>): number {
  let at = Math.min(header.expiresAt, header.warned ? Infinity : toWarningAt(header));
  for (const { until } of header.current as Question[]) if (until !== undefined && until < at) at = until;
  return at;
}
