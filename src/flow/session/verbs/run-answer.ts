// Runs the turn of an answer, with the body that waits in memory or with a replay.
import { GatewayError } from '../../../shared/errors.ts';
import type { AnyFlow } from '../../define.ts';
import { endsSession, receiveAnswers } from './receive-answers.ts';
import type { ReceivedAnswers } from './receive-answers.ts';
import type { WarmSession } from '../turn/turn-runner.ts';
import { hasOverdue, isOwner } from '../../header.ts';
import { OWNER_KEY } from './owner.ts';
import type { AnswerRequest } from './requests.ts';
import type { Sessions } from '../sessions.ts';
import type { Turn } from '../turn/turn.ts';

export interface AnswerInput {
  flow: AnyFlow;
  stored: WarmSession;
  taken: ReceivedAnswers;
}

/** Undefined if another writer was faster. */
export function runAnswer(sessions: Sessions, { flow, stored, taken }: AnswerInput): Promise<Turn | undefined> {
  const { header, incoming } = taken;
  const { entries, frame } = stored;
  return sessions.runTurn({ flow, header, entries, frame, incoming, stored: true }).then(unlessRefused);
}

function unlessRefused(turn: Turn | undefined): Turn | undefined {
  if (turn?.failure?.name === 'FLOW_VALIDATION_FAILED') {
    throw new GatewayError('FLOW_VALIDATION_FAILED', turn.failure.data as Record<string, unknown>);
  }
  return turn;
}

/** Undefined if no warm body fits. Rejecting an answer is left to the caller, which reads the store: the warm state may be stale. */
export function runWarmAnswer(sessions: Sessions, request: AnswerRequest): Promise<Turn | undefined> | undefined {
  const { warmBodies, clock } = sessions.context;
  const frame = warmBodies.get(request.sessionId);
  if (!frame || !isOwner(frame.header, request.principal)) return undefined;
  warmBodies.delete(request.sessionId);
  if (frame.header.expiresAt <= clock.now() || hasOverdue(frame.header, clock.now())) return undefined;
  const stored: WarmSession = { header: frame.header, entries: [], frame };
  const goOn = (taken: ReceivedAnswers | undefined): Promise<Turn | undefined> | undefined => {
    if (!taken || taken.incoming.some((one) => endsSession(one) || one.k === OWNER_KEY)) return undefined;
    return runAnswer(sessions, { flow: sessions.flowOf(frame.header), stored, taken });
  };
  const taken = takenOrNot(sessions, stored, request);
  return taken instanceof Promise ? taken.then(goOn) : goOn(taken);
}

function takenOrNot({ context }: Sessions, stored: WarmSession, request: AnswerRequest) {
  try {
    const taken = receiveAnswers(context, stored, request);
    return taken instanceof Promise ? taken.catch(() => undefined) : taken;
  } catch {
    return undefined; // it would be rejected
  }
}
