// Handles a retry that brings answers, for a parked call or for one that is repeated.
import type { RequestMessage } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { ServeContext } from '../serve/serve-context.ts';
import type { SuspendedState } from './request-state.ts';
import { openState } from './request-state.ts';
import type { StatelessExchange } from './stateless-exchange.ts';

export type ResumeResult =
  /** A parked call, which now continues. */
  | { waited: StatelessExchange }
  /** To be handed to the target again. */
  | { again: StatelessExchange }
  /** The call is gone; this is the result that says so. */
  | { lost: JsonObject };

/** Throws STATE_INVALID for a state that was not sealed here or belongs to another request. */
export function resume(context: ServeContext, retry: StatelessExchange): ResumeResult {
  const { request, client } = retry;
  const state = openState(context.sealer, request, client.principal);
  if (!state) throw new GatewayError('STATE_INVALID');
  if ('kept' in state) return again(context, retry, state.kept);
  const exchange = context.parked.take(state.ticket, client.principal);
  if (!exchange) return lost(request);
  exchange.resume(retry);
  return { waited: exchange };
}

function again(
  context: ServeContext,
  retry: StatelessExchange,
  { state, server, suspensions, expiresAt }: SuspendedState,
): ResumeResult {
  if (expiresAt < context.clock.now()) throw new GatewayError('STATE_INVALID');
  retry.suspensions = suspensions;
  retry.resumed = { state: state ?? undefined, answers: retry.takeAnswers(), server: server ?? undefined };
  return { again: retry };
}

/** Tells the user, who has just answered, that the call is gone. */
function lost({ method }: RequestMessage): ResumeResult {
  if (method !== 'tools/call') throw new GatewayError('STATE_INVALID');
  const text =
    'This question is no longer open: it was already answered, it expired, or the gateway restarted. ' +
    'The tool may already have acted: look before you call it again. To start over, call it without requestState.';
  return { lost: { content: [{ type: 'text', text }], isError: true } };
}
