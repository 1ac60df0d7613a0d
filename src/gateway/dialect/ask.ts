// Says which client capability a question needs. The rule is the same in all eras; only the encoding differs.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Ask } from '../../protocol/exchange.ts';
import { GatewayError } from '../../shared/errors.ts';

/** The capability that the client lacks for this question; undefined if it lacks none. */
export function missingCapability(ask: Ask, declared: ClientCapabilities): ClientCapabilities | undefined {
  switch (ask.method) {
    case 'elicitation/create':
      return missingElicitation(ask, declared);
    case 'sampling/createMessage':
      return missingSampling(ask, declared);
    case 'roots/list':
      return declared.roots ? undefined : { roots: {} };
    default:
      return undefined;
  }
}

export function cannotBeAsked(ask: Ask, required: ClientCapabilities | undefined): GatewayError {
  return new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method, requiredCapabilities: required ?? {} });
}

/** `elicitation: {}` means forms only. */
function missingElicitation(ask: Ask, { elicitation }: ClientCapabilities): ClientCapabilities | undefined {
  if (ask.params?.mode === 'url') return elicitation?.url ? undefined : { elicitation: { url: {} } };
  if (ask.page) return { elicitation: { url: {} } };
  const form = elicitation && (elicitation.form !== undefined || elicitation.url === undefined);
  return form ? undefined : { elicitation: { form: {} } };
}

function missingSampling(ask: Ask, { sampling }: ClientCapabilities): ClientCapabilities | undefined {
  const withTools = ask.params?.tools !== undefined || ask.params?.toolChoice !== undefined;
  if (!sampling) return { sampling: withTools ? { tools: {} } : {} };
  return withTools && !sampling.tools ? { sampling: { tools: {} } } : undefined;
}
