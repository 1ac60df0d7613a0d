// A session that no version that is served can go on with is parked: it neither expires nor is wiped for a week, and goes on as soon as a
// version can. One that waits for an answer is tried again with that answer, one that was at work every minute.
import type { AnyFlow } from '../../define.ts';
import type { Header } from '../../journal.ts';
import type { SessionContext } from '../session-context.ts';

const AGAIN_MS = 60_000;

interface Parking {
  setup: SessionContext;
  flow: AnyFlow;
  header: Header;
}

/** The time that it was parked is no time of its user's. With what has to be written once it has gone on: what was handed over is used up. */
export function unpark({ setup, flow, header }: Parking): { header: Header; patch: Partial<Header> | undefined } {
  const { parked, version, handed } = header;
  if (!parked && !handed) return { header, patch: version === flow.version ? undefined : { version: flow.version } };
  const deadline = header.deadline + (parked ? setup.clock.now() - parked.at : 0);
  const patch = { deadline, parked: undefined, handed: undefined };
  return { header: { ...header, ...patch }, patch: { version: flow.version, ...patch } };
}

/** `header` is as it is in the store. An answer that was handed over is kept for the next try; a wish to try again is used up. */
export function toParkedPatch(
  { setup }: Pick<Parking, 'setup'>,
  { parked, handed, state }: Header,
  { message: reason }: Error,
): { patch: Partial<Header>; dueAt: number } {
  const now = setup.clock.now();
  const at = parked?.at ?? now;
  const expiresAt = at + setup.limits.parkedMs;
  const dueAt = state === 'waiting_user' ? expiresAt : Math.min(now + AGAIN_MS, expiresAt);
  const kept = handed && handed.answers.length > 0 ? handed : undefined;
  return { patch: { parked: { reason, at }, expiresAt, handed: kept }, dueAt };
}
