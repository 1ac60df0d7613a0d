// A session as its owner finds it. Another's looks like none, one whose time is over is ended first, and one that is being ended has
// ended already, though its effects are still being taken back.
import { asEnded } from '../../journal.ts';
import { isEnded } from '../../store/store.ts';
import type { StoredSession } from '../../store/store.ts';
import type { Header } from '../../journal.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { withHeld } from '../values/held-args.ts';
import { nextMoment } from '../others/waits.ts';
import type { Setup } from '../setup.ts';

type Attend = (sessionId: string) => Promise<void>;

export interface LoadRequest {
  sessionId: string;
  mayHave: (stored: StoredSession) => boolean;
}

/** Whoever may not have it finds none. */
export async function loadFor(setup: Setup, request: LoadRequest, attend: Attend): Promise<StoredSession> {
  const { sessionId, mayHave } = request;
  const stored = await setup.store.load(sessionId);
  if (!stored || !mayHave(stored)) throw new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
  const whole = withHeld(setup, stored);
  const header = asEnded(whole.header);
  if (isOverdue(header, setup.clock.now())) {
    await attend(sessionId);
    return loadFor(setup, request, attend);
  }
  if (header.reason === 'expired') throw new GatewayError('FLOW_SESSION_EXPIRED', { sessionId });
  return header === whole.header ? whole : { ...whole, header };
}

/** Handles an expired session or question before anything else. */
function isOverdue(header: Header, now: number): boolean {
  if (isEnded(header)) return false;
  return header.expiresAt <= now || (!header.parked && hasLate(header, now));
}

export function hasLate(header: Header, now: number): boolean {
  return nextMoment(header) <= now;
}
