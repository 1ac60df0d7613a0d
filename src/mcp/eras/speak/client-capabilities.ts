// Converts the client capabilities that we declare to a server, per revision.
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../../kernel/exchange.ts';
import { present } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { SmallMemo } from '../../../kernel/containers/memo.ts';
import { featuresOf } from '../handshake/features.ts';
import { isStateless } from '../revisions.ts';

/** `capabilities` is in the newest handshake form. */
export function toClientCapabilities(capabilities: ClientCapabilities, revision: string): ClientCapabilities {
  const { roots, sampling, elicitation, ...rest } = capabilities as JsonObject;
  if (isStateless(revision)) {
    return { ...rest, ...present({ sampling, elicitation }), ...(roots ? { roots: {} } : undefined) };
  }
  return { ...rest, ...present({ roots }), ...toAskCapabilities({ sampling, elicitation }, revision) };
}

/** As far as the revision can express them. */
function toAskCapabilities({ sampling, elicitation }: JsonObject, revision: string): JsonObject {
  const features = featuresOf(revision);
  return {
    ...(sampling ? { sampling: features.samplingTools ? sampling : {} } : undefined),
    ...(elicitation && features.elicitation ? { elicitation: features.urlElicitation ? elicitation : {} } : undefined),
  };
}

/**
 * The capabilities to declare with a call to a stateless server: what the calling client declared, as far as its
 * revision can answer it, plus what the gateway answers in its place. The tasks of older clients are a different
 * feature of the same name.
 */
export function toCallCapabilities(client: ClientView): ClientCapabilities {
  const { assisted, capabilities, revision } = client;
  return told.get(capabilities, assisted, revision) ?? told.keep(toTold(client), capabilities, assisted, revision);
}

/** Memoized, because every call of a client needs them. */
const told = new SmallMemo<ClientCapabilities>();

function toTold(client: ClientView): ClientCapabilities {
  const { assisted } = client;
  if (!assisted) return ownCapabilities(client);
  return { ...assisted, ...(assisted.roots && { roots: {} }), ...ownCapabilities(client) };
}

function ownCapabilities({ era, revision, capabilities }: ClientView): ClientCapabilities {
  if (era.declaresPerRequest) return capabilities;
  const { roots, sampling, elicitation, tasks, extensions, ...rest } = capabilities as JsonObject;
  const { [TASKS_EXTENSION]: _tasks, ...others } = (extensions ?? {}) as JsonObject;
  return {
    ...rest,
    ...(roots ? { roots: {} } : undefined),
    ...toAskCapabilities({ sampling, elicitation }, revision),
    ...(Object.keys(others).length > 0 && { extensions: others }),
  } as ClientCapabilities;
}
