// An answer goes to its body: to the one that waits for it in memory, or else to a replay of it.
import { GatewayError } from '../../../shared/errors.ts';
import type { AnyFlow } from '../../define.ts';
import { endsSession, receiveAnswers } from './receive-answers.ts';
import type { ReceivedAnswers } from './receive-answers.ts';
import type { WarmSession } from '../turn/warm-body.ts';
import { hasOverdue } from './load-session.ts';
import { OWNER_KEY } from './owner.ts';
import type { AnswerRequest } from './requests.ts';
import type { Sessions } from '../sessions.ts';
import { toOwner } from '../session-context.ts';
import type { Turn } from '../turn/turn.ts';

export interface AnswerInput {
  flow: AnyFlow;
  stored: WarmSession;
  taken: ReceivedAnswers;
}

/** Undefined if somebody else was faster. */
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

/**
 * Undefined if no body waits for this answer, or what it waits for is no longer so. Whatever is to be refused is left to those
 * who have read the session from its store: what is known here may be old.
 */
export function runWarmAnswer(sessions: Sessions, request: AnswerRequest): Promise<Turn | undefined> | undefined {
  const { warmBodies, clock } = sessions.setup;
  const frame = warmBodies.get(request.sessionId);
  if (!frame || frame.header.principal !== toOwner(request.principal)) return undefined;
  warmBodies.drop(request.sessionId);
  if (frame.header.expiresAt <= clock.now() || hasOverdue(frame.header, clock.now())) return undefined;
  const stored: WarmSession = { header: frame.header, entries: [], frame };
  const goOn = (taken: ReceivedAnswers | undefined): Promise<Turn | undefined> | undefined => {
    if (!taken || taken.incoming.some((one) => endsSession(one) || one.k === OWNER_KEY)) return undefined;
    return runAnswer(sessions, { flow: sessions.flowOf(frame.header), stored, taken });
  };
  const taken = takenOrNot(sessions, stored, request);
  return taken instanceof Promise ? taken.then(goOn) : goOn(taken);
}

function takenOrNot({ setup }: Sessions, stored: WarmSession, request: AnswerRequest) {
  try {
    const taken = receiveAnswers(setup, stored, request);
    return taken instanceof Promise ? taken.catch(() => undefined) : taken;
  } catch {
    return undefined; // as of whatever is refused
  }
}
