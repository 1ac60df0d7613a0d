// How a session stands, in one word for somebody who looks after many.
import { endingOf } from '../journal.ts';
import type { Header } from '../journal.ts';

export const OPEN = ['waiting', 'working', 'parked', 'ending'] as const;
export const ENDED = ['completed', 'cancelled', 'failed', 'expired'] as const;

export type Condition = (typeof OPEN)[number] | (typeof ENDED)[number];

export function conditionOf(header: Header): Condition {
  const { state, reason, parked } = header;
  if (state === 'completed' || state === 'cancelled') return state;
  if (state === 'error') return reason === 'expired' ? 'expired' : 'failed';
  const ending = endingOf(header);
  if (parked || ending?.parked) return 'parked';
  if (ending) return 'ending';
  return state === 'waiting_user' ? 'waiting' : 'working';
}

/** Why it is parked. */
export function whyParked(header: Header): string | undefined {
  return (header.parked ?? endingOf(header)?.parked)?.reason;
}
