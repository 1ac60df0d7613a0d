// When a client that cannot be told things looks again with `interaction.getState`, while it shows a question: the question may be withdrawn
// without its doing. Also said to clients that can be told things, but for the end of the session: one of them may be a gateway whose own client cannot.
import type { JsonObject } from '../../protocol/message.ts';
import type { Header } from '../journal.ts';
import { isForEvents, nextMoment, ownOf } from '../session/others/waits.ts';

/** Where nobody knows when something will happen. The client makes the pauses longer while nothing does. */
const UNKNOWN_MS = 1000;

export function lookAgain(header: Header, { now, isTold }: { now: number; isTold: boolean }): JsonObject {
  if (ownOf(header).length === 0) return {};
  const own = header.busy || isForEvents(header) ? now + UNKNOWN_MS : nextMoment(header);
  const at = Math.min(own, isTold ? Infinity : header.expiresAt);
  return at === Infinity ? {} : { lookAgainMs: Math.max(at - now, 0) };
}
