// When a session expires, and when it is due before that.
import type { Header } from '../../journal.ts';
import { nextNoticeAt } from '../external/people.ts';
import { waitsForOthers, nextDeadline } from '../external/waits.ts';

const MAX_NOTICE_MS = 30_000;

type Span = Pick<Header, 'timeoutMs' | 'deadline' | 'waits' | 'busy' | 'current'>;

/** Activity renews the full timeout, up to the deadline. A session that also waits for others has only the deadline. */
export function toExpiry(header: Span, now: number): Pick<Header, 'lastActivityAt' | 'expiresAt' | 'warned'> {
  const { timeoutMs, deadline } = header;
  const expiresAt = waitsForOthers(header) ? deadline : Math.min(now + timeoutMs, deadline);
  return { lastActivityAt: now, expiresAt, warned: undefined };
}

/** When a fifth of the timeout is left, but at most 30 s before expiry. */
export function toWarningAt({ expiresAt, timeoutMs }: Pick<Header, 'expiresAt' | 'timeoutMs'>): number {
  return expiresAt - Math.min(timeoutMs / 5, MAX_NOTICE_MS);
}

/** There is no warning if no question is open. */
export function toDueAt(header: Pick<Header, 'expiresAt' | 'timeoutMs' | 'current' | 'warned' | 'waits'>): number {
  const warning = header.warned || header.current.length === 0 ? Infinity : toWarningAt(header);
  return Math.min(header.expiresAt, warning, nextDeadline(header), nextNoticeAt(header));
}
