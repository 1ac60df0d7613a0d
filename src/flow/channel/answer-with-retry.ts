// Submits an answer of a waiting call. If answers come too fast for the session, it waits instead of failing, as the user cannot be asked
// to retry.
import { GatewayError } from '../../shared/errors.ts';
import { pause } from '../../shared/timing.ts';
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

/** Resolves with the direct result of the answer, without waiting for what follows. */
export async function answerWithRetry(sessions: Sessions, request: AnswerRequest): Promise<Turn> {
  for (;;) {
    try {
      return await sessions.answer(request);
    } catch (thrown) {
      const wait = waitOf(thrown);
      if (wait === undefined) throw thrown;
      await pause(sessions.context.clock, wait);
    }
  }
}

/** Waits only for the rate limit. */
function waitOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'FLOW_LIMIT') return undefined;
  const { limit, retryAfterMs } = thrown.details;
  return limit === 'respondsPerSecond' && typeof retryAfterMs === 'number' ? retryAfterMs : undefined;
}
