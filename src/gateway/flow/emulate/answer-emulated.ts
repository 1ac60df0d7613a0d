// Answers a client's requests about an emulated session. Requests that only a tool's owner may make are refused.
import { saysUnproven } from '../../../protocol/form/human-marks.ts';
import { isUnacknowledged } from '../../../protocol/interaction.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { readOptionalString, toInvalid } from '../../../protocol/params.ts';
import { readResponse } from '../../../protocol/form/prompt.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { PromptResponse } from './prompt-queue.ts';
import type { EmulatedSession } from './emulated-session.ts';

export function answerEmulated(method: string, params: JsonObject, call: EmulatedSession): JsonObject {
  switch (method) {
    case 'interaction.respond':
      return call.respond(readGiven(params), {
        promptId: readOptionalString(params, 'promptId'),
        isUnacknowledged: isUnacknowledged(params),
        isUnproven: saysUnproven(params),
      });
    case 'interaction.cancel':
      readOptionalString(params, 'reason');
      call.cancel();
      return { cancelled: true };
    case 'interaction.getState':
      return call.view();
    case 'interaction.extend':
      call.check();
      call.touch();
      return { extended: true, expiresAt: call.expiresAt };
    case 'interaction.continue':
    case 'interaction.complete': {
      const { id: sessionId } = call.options;
      throw new GatewayError('FLOW_INVALID_TRANSITION', {
        sessionId,
        state: 'called',
        reason: 'the tool goes on itself',
      });
    }
    default:
      throw new GatewayError('METHOD_NOT_FOUND', { method });
  }
}

/** A client may decline one question without ending the session. */
function readGiven(params: JsonObject): PromptResponse {
  const { response, ...about } = readResponse(params);
  const { action } = about.meta ?? {};
  if (action === 'decline' || action === 'cancel') return { action };
  if (!('value' in response)) throw toInvalid('response.value', 'Required parameter missing');
  return { value: response.value, ...about };
}
