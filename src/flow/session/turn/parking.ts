// Parks a session that the served version cannot continue: it does not expire for a week, and continues as soon as a version can. A session
// that waits for an answer is tried again with the next answer, any other once a minute.
import type { Header } from '../../journal.ts';
import type { SessionContext } from '../context/session-context.ts';

const AGAIN_MS = 60_000;

interface Parking {
  context: SessionContext;
  header: Header;
}

/** What changes once a parked session continues: the deadline moves by the parked time, and operator requests are done. */
export function unpark({ context, header: { deadline, parked } }: Parking): Partial<Header> {
  const time = parked ? context.clock.now() - parked.at : 0;
  return { deadline: deadline + time, parked: undefined, handed: undefined };
}

/** The header is the stored one. Answers of an operator stay for the next try; a retry request is used up. */
export function toParkedPatch(
  { context }: Pick<Parking, 'context'>,
  { parked, handed, state }: Header,
  { message: reason }: Error,
): { patch: Partial<Header>; dueAt: number } {
  const now = context.clock.now();
  const at = parked?.at ?? now;
  const expiresAt = at + context.limits.parkedMs;
  const dueAt = state === 'waiting_user' ? expiresAt : Math.min(now + AGAIN_MS, expiresAt);
  const kept = handed && handed.answers.length > 0 ? handed : undefined;
  return { patch: { parked: { reason, at }, expiresAt, handed: kept }, dueAt };
}
