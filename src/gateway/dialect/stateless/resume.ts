// A request that brings answers: to a call that waits here, or to one that was ended with questions and is made again.
import type { RequestMessage } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { ServeContext } from '../serve/serve-context.ts';
import type { SuspendedState } from './request-state.ts';
import { openState } from './request-state.ts';
import type { StatelessExchange } from './stateless-exchange.ts';

export type ResumeResult =
  /** It waited here and has gone on. */
  | { waited: StatelessExchange }
  /** To be handed to the target once more. */
  | { again: StatelessExchange }
  /** It was ours and is gone. */
  | { lost: JsonObject };

/** Throws STATE_INVALID for a state that was never ours, or was made for something else. */
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

/** The person has answered, and must not be led to believe that nothing has happened. */
function lost({ method }: RequestMessage): ResumeResult {
  if (method !== 'tools/call') throw new GatewayError('STATE_INVALID');
  const text =
    'The call that asked is gone: its question was answered already, or waited too long, or the gateway was restarted. ' +
    'The tool may already have acted: look before you call it again. To start over, call it without requestState.';
  return { lost: { content: [{ type: 'text', text }], isError: true } };
}
