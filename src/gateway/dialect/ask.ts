// Questions, as all eras put them: how they are read from the wire, and which capability of the client each one needs.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Ask } from '../../protocol/exchange.ts';
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import { META } from './meta.ts';

/** Converts a question from the wire to the neutral form. */
export function readAsk(method: string, params: JsonObject | undefined): Ask {
  if (!params) return { method };
  const { _meta, ...rest } = params;
  const { [META.key]: key, [META.human]: human, progressToken: _token, ...meta } = isObject(_meta) ? _meta : {};
  return {
    method,
    params: {
      ...rest,
      ...(Object.keys(meta).length > 0 && { _meta: meta }),
    },
    // Clients that store questions in an object would lose this key.
    ...(typeof key === 'string' && key !== '__proto__' && { key }),
    ...(human === true && { human }),
  };
}

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
