// Finds the open questions of a session from a token by replaying its body, since they are not in the token. The body then waits there, so that
// an answer continues it without a second replay.
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

/** An answer follows right after, in the same batch of ticks. */
const ANSWER = 2;

/** Includes questions that are asked ahead, as in a normal turn. */
export async function restoreQuestions(sessions: Sessions, session: StoredSession): Promise<WarmSession> {
  const { header, entries } = openSealedArgs(sessions.context, session);
  if (header.state !== 'waiting_user') return session;
  const flow = sessions.flowOf(header);
  const { next } = sessions.explored(flow);
  const { id: sessionId, locale, lastActivityAt: now } = header;
  let stalled = (_: undefined): void => {};
  const onStall = () => stalled(undefined);
  const { virtual } = sessions.context;
  const checks = 'off' as const;
  const folded = fold(entries);
  const run = new BodyRun(
    createRunInput({ flow, folded, sessionId, locale, virtual }, { incoming: [], now, next, checks, onStall }),
  );
  const rest = await new Promise<RunState | undefined>((resolve) => {
    void run.next(ANSWER).then(resolve);
    stalled = resolve;
  });
  // Otherwise the body has changed. The turn that follows detects and reports that.
  if (rest?.kind !== 'asks') return session;
  const waiting = { ...header, current: buildQuestions(run, rest.asks, new Map()) };
  return { header: waiting, entries: session.entries, frame: run.canWait ? new WarmBody(waiting, run) : undefined };
}
