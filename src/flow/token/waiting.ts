// The questions that a session waits with, found again by replaying its body: they are not in its token. The body is where it
// should be then, and goes on from there if an answer has come too: a turn is one replay.
import { Run } from '../engine/run.ts';
import { toRunInput } from '../engine/run-input.ts';
import type { Rest } from '../engine/rest.ts';
import { fold } from '../fold.ts';
import { Frame } from '../session/turn/frame.ts';
import type { Waiting } from '../session/turn/frame.ts';
import { withHeld } from '../session/values/held-args.ts';
import type { Sessions } from '../session/sessions.ts';
import { toQuestions } from '../session/turn/to-questions.ts';
import type { StoredSession } from '../store/store.ts';

/** An answer is told right after, in the same round of the event loop. */
const ANSWER = 2;

/** Together with those that were put ahead, as they are when the session is driven. */
export async function toWaiting(sessions: Sessions, session: StoredSession): Promise<Waiting> {
  const { header, entries } = withHeld(sessions.setup, session);
  if (header.state !== 'waiting_user') return session;
  const flow = sessions.flowOf(header);
  const { next } = sessions.explored(flow);
  const { id: sessionId, locale, lastActivityAt: now } = header;
  let stalled = (_: undefined): void => {};
  const onStall = () => stalled(undefined);
  const { virtual } = sessions.setup;
  const checks = 'off' as const;
  const folded = fold(entries);
  const run = new Run(
    toRunInput({ flow, folded, sessionId, locale, virtual }, { incoming: [], now, next, checks, onStall }),
  );
  const rest = await new Promise<Rest | undefined>((resolve) => {
    void run.next(ANSWER).then(resolve);
    stalled = resolve;
  });
  // Anything else: the body is another one than it was. The turn that follows finds that out, and says so.
  if (rest?.kind !== 'asks') return session;
  const waiting = { ...header, current: toQuestions(run, rest.asks, new Map()) };
  return { header: waiting, entries: session.entries, frame: run.canWait ? new Frame(waiting, run) : undefined };
}
