// When a client that cannot be told things looks again with `interaction.getState`, while it shows a question: the question may be withdrawn
// without its doing. Also said to clients that can be told things, but for the end of the session: one of them may be a gateway whose own client cannot.
import type { JsonObject } from '../../protocol/message.ts';
import type { Header } from '../journal.ts';
import { waitsForPeopleOrEvents, nextDeadline, callerQuestions } from '../session/external/waits.ts';

/** Where nobody knows when something will happen. The client makes the pauses longer while nothing does. */
const UNKNOWN_MS = 1000;

export function lookAgain(header: Header, { now, isTold }: { now: number; isTold: boolean }): JsonObject {
  if (callerQuestions(header).length === 0) return {};
  const own = header.busy || waitsForPeopleOrEvents(header) ? now + UNKNOWN_MS : nextDeadline(header);
  const at = Math.min(own, isTold ? Infinity : header.expiresAt);
  return at === Infinity ? {} : { lookAgainMs: Math.max(at - now, 0) };
}
