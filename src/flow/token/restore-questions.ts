// The questions that a session waits with, found again by replaying its body: they are not in its token. The body is where it
// should be then, and goes on from there if an answer has come too: a turn is one replay.
import { BodyRun } from '../engine/body-run.ts';
import { createRunInput } from '../engine/run-input.ts';
import type { RunState } from '../engine/run-state.ts';
import { fold } from '../fold.ts';
import { WarmBody } from '../session/turn/warm-body.ts';
import type { WarmSession } from '../session/turn/warm-body.ts';
import { openSealedArgs } from '../session/values/sealed-args.ts';
import type { Sessions } from '../session/sessions.ts';
import { buildQuestions } from '../session/turn/build-questions.ts';
import type { StoredSession } from '../store/store.ts';

/** An answer is told right after, in the same round of the event loop. */
const ANSWER = 2;

/** Together with those that were put ahead, as they are when the session is driven. */
export async function restoreQuestions(sessions: Sessions, session: StoredSession): Promise<WarmSession> {
  const { header, entries } = openSealedArgs(sessions.setup, session);
  if (header.state !== 'waiting_user') return session;
  const flow = sessions.flowOf(header);
  const { next } = sessions.explored(flow);
  const { id: sessionId, locale, lastActivityAt: now } = header;
  let stalled = (_: undefined): void => {};
  const onStall = () => stalled(undefined);
  const { virtual } = sessions.setup;
  const checks = 'off' as const;
  const folded = fold(entries);
  const run = new BodyRun(
    createRunInput({ flow, folded, sessionId, locale, virtual }, { incoming: [], now, next, checks, onStall }),
  );
  const rest = await new Promise<RunState | undefined>((resolve) => {
    void run.next(ANSWER).then(resolve);
    stalled = resolve;
  });
  // Anything else: the body is another one than it was. The turn that follows finds that out, and says so.
  if (rest?.kind !== 'asks') return session;
  const waiting = { ...header, current: buildQuestions(run, rest.asks, new Map()) };
  return { header: waiting, entries: session.entries, frame: run.canWait ? new WarmBody(waiting, run) : undefined };
}
