// What our side declares that it can be asked, as each revision knows it.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { present } from '../../../protocol/message.ts';
import { SmallMemo } from '../../../shared/containers/small-memo.ts';
import { TASKS_EXTENSION } from '../meta.ts';
import { featuresOf, isStateless } from '../revisions.ts';

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

/**
 * What a server of the stateless era is told of the client that a call is made for: just what it declared, so far as its
 * revision knows how to answer it, and what is answered in its place. Tasks of older clients are another thing under the same name.
 */
export function toCallCapabilities(client: ClientView): ClientCapabilities {
  const { assisted, capabilities, revision, dialect } = client;
  if (dialect === 'draft') return assisted ? toTold(client) : {};
  return told.get(capabilities, assisted, revision) ?? told.keep(toTold(client), capabilities, assisted, revision);
}

/** Told with every call of a client. */
const told = new SmallMemo<ClientCapabilities>();

function toTold(client: ClientView): ClientCapabilities {
  const { assisted } = client;
  if (!assisted) return ownCapabilities(client);
  return { ...assisted, ...(assisted.roots && { roots: {} }), ...ownCapabilities(client) };
}

function ownCapabilities({ dialect, revision, capabilities }: ClientView): ClientCapabilities {
  if (dialect === 'stateless') return capabilities;
  if (dialect === 'draft') return {};
  const { roots, sampling, elicitation, tasks, extensions, ...rest } = capabilities as JsonObject;
  const { structured, icons } = featuresOf(revision);
  const { [TASKS_EXTENSION]: _tasks, ...others } = (extensions ?? {}) as JsonObject;
  return {
    ...rest,
    ...(roots ? { roots: {} } : undefined),
    ...(sampling ? { sampling: icons ? sampling : {} } : undefined),
    ...(elicitation && structured ? { elicitation: icons ? elicitation : {} } : undefined),
    ...(Object.keys(others).length > 0 && { extensions: others }),
  } as ClientCapabilities;
}
