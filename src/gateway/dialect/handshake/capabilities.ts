// Converts server capabilities to a handshake revision: a key is present exactly if the area is supported.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../protocol/message.ts';
import { TASKS_EXTENSION } from '../meta.ts';
import type { Features } from '../revisions.ts';

export function toHandshakeCapabilities(capabilities: ServerCapabilities, features: Features): JsonObject {
  const { tasks, completions, extensions, ...rest } = capabilities as JsonObject;
  return {
    ...rest,
    ...(features.completionsFlag && completions !== undefined && { completions }),
    ...(features.tasks && tasks !== undefined && { tasks }),
    ...withoutTasksExtension(extensions as JsonObject | undefined),
  };
}

/** MCP Apps and others use `extensions` here too; the tasks extension does not exist before the stateless era. */
function withoutTasksExtension(extensions: JsonObject | undefined): JsonObject {
  if (!extensions) return {};
  const { [TASKS_EXTENSION]: tasks, ...others } = extensions;
  return Object.keys(others).length > 0 ? { extensions: others } : {};
}
