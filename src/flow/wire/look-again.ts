// When a client that cannot receive requests should call `interaction.getState` again while it shows a question, which may be withdrawn.
// Other clients get this hint too, since one may be a gateway whose own client cannot receive requests.
import type { JsonObject } from '../../protocol/message.ts';
import type { Header } from '../journal.ts';
import { waitsForPeopleOrEvents, nextDeadline, callerQuestions } from '../session/external/waits.ts';

/** If the time is not known. The client makes the pauses longer while nothing happens. */
const UNKNOWN_MS = 1000;

export function lookAgain(header: Header, { now, isTold }: { now: number; isTold: boolean }): JsonObject {
  if (callerQuestions(header).length === 0) return {};
  const own = header.busy || waitsForPeopleOrEvents(header) ? now + UNKNOWN_MS : nextDeadline(header);
  const at = Math.min(own, isTold ? Infinity : header.expiresAt);
  return at === Infinity ? {} : { lookAgainMs: Math.max(at - now, 0) };
}
