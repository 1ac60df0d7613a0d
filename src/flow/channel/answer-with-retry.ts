// An answer that a client has given to a call that waits. Where answers come faster than a session takes them, this one waits its
// turn: whoever gave it cannot be told to try again.
import { GatewayError } from '../../shared/errors.ts';
import type { AnswerRequest } from '../session/verbs/requests.ts';
import type { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';

export async function answerAndSettle(
  sessions: Sessions,
  request: AnswerRequest,
  onWaiting?: (turn: Turn) => void,
): Promise<Turn> {
  return settled(await answerWithRetry(sessions, request), onWaiting);
}

/** With what was made of the answer itself: what follows is not waited for. */
export async function answerWithRetry(sessions: Sessions, request: AnswerRequest): Promise<Turn> {
  for (;;) {
    try {
      return await sessions.answer(request);
    } catch (thrown) {
      const wait = waitOf(thrown);
      if (wait === undefined) throw thrown;
      await new Promise<void>((resolve) => sessions.setup.clock.after(wait, resolve));
    }
  }
}

/** Only what passes by itself is waited for. */
function waitOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'FLOW_LIMIT') return undefined;
  const { limit, retryAfterMs } = thrown.details;
  return limit === 'respondsPerSecond' && typeof retryAfterMs === 'number' ? retryAfterMs : undefined;
}
