// What our side declares that it can be asked, as each revision knows it.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../protocol/message.ts';
import { featuresOf, isStateless } from './revisions.ts';

/** `capabilities` in the newest handshake spelling. */
export function toClientCapabilities(capabilities: ClientCapabilities, revision: string): ClientCapabilities {
  const { roots, sampling, elicitation, ...rest } = capabilities as JsonObject;
  if (isStateless(revision)) {
    return { ...rest, ...present({ sampling, elicitation }), ...(roots ? { roots: {} } : undefined) };
  }
  const { structured, icons } = featuresOf(revision);
  if (icons) return capabilities;
  return {
    ...rest,
    ...present({ roots }),
    ...(sampling ? { sampling: {} } : undefined),
    ...(elicitation && structured ? { elicitation: {} } : undefined),
  };
}

function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
