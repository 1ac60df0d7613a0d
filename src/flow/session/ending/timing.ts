// When a session expires, and when it wants to be looked at before that.
import type { Header } from '../../journal.ts';
import { nextNoticeAt } from '../external/people.ts';
import { waitsForOthers, nextDeadline } from '../external/waits.ts';

const MAX_NOTICE_MS = 30_000;

type Span = Pick<Header, 'timeoutMs' | 'deadline' | 'waits' | 'busy' | 'current'>;

/**
 * The user has done something: he has the whole span again, as far as the session lasts. Where it waits for others as well, it is not the
 * user who is idle.
 */
export function toExpiry(header: Span, now: number): Pick<Header, 'lastActivityAt' | 'expiresAt' | 'warned'> {
  const { timeoutMs, deadline } = header;
  const expiresAt = waitsForOthers(header) ? deadline : Math.min(now + timeoutMs, deadline);
  return { lastActivityAt: now, expiresAt, warned: undefined };
}

/** When a fifth of the span is left, at most half a minute. */
export function toWarningAt({ expiresAt, timeoutMs }: Pick<Header, 'expiresAt' | 'timeoutMs'>): number {
  return expiresAt - Math.min(timeoutMs / 5, MAX_NOTICE_MS);
}

/** Nobody is warned where nobody is asked. */
export function toDueAt(header: Pick<Header, 'expiresAt' | 'timeoutMs' | 'current' | 'warned' | 'waits'>): number {
  const warning = header.warned || header.current.length === 0 ? Infinity : toWarningAt(header);
  return Math.min(header.expiresAt, warning, nextDeadline(header), nextNoticeAt(header));
}
