// The condition of a session in one word, for operators and metrics.
import { earlyEndOf } from '../header.ts';
import type { Header } from '../journal.ts';

export const OPEN_CONDITIONS = ['waiting', 'working', 'parked', 'ending'] as const;
export const ENDED_CONDITIONS = ['completed', 'cancelled', 'failed', 'expired'] as const;

export type Condition = (typeof OPEN_CONDITIONS)[number] | (typeof ENDED_CONDITIONS)[number];

export function conditionOf(header: Header): Condition {
  const { state, reason, parked } = header;
  if (state === 'completed' || state === 'cancelled') return state;
  if (state === 'error') return reason === 'expired' ? 'expired' : 'failed';
  const ending = earlyEndOf(header);
  if (parked || ending?.parked) return 'parked';
  if (ending) return 'ending';
  return state === 'waiting_user' ? 'waiting' : 'working';
}

export function parkedReason(header: Header): string | undefined {
  return (header.parked ?? earlyEndOf(header)?.parked)?.reason;
}
