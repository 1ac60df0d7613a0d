// Merges the capabilities of several servers: an area or flag is present if one of them has it.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { dictionary } from '../../shared/containers/dictionary.ts';

export function mergeCapabilities(all: ServerCapabilities[]): ServerCapabilities {
  return all.reduce<JsonObject>((merged, one) => merge(merged, one), {});
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const merged: JsonObject = dictionary(a);
  for (const [key, value] of Object.entries(b)) {
    const known = merged[key];
    if (isObject(known) && isObject(value)) merged[key] = merge(known, value);
    else if (known === undefined || value === true) merged[key] = value;
  }
  return merged;
}
