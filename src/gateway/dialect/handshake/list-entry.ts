// Converts list entries for older revisions: drops fields that a revision lacks, for clients that validate strictly.
// The same definition objects are listed repeatedly, so each is converted once.
import type { JsonObject } from '../../../protocol/message.ts';
import { present } from '../../../protocol/message.ts';
import type { Features } from '../revisions.ts';
import { toAnnotated } from './content.ts';
import { wrapOutputSchema } from './structured.ts';

const known = new Map<Features, WeakMap<JsonObject, JsonObject>>();

export function toHandshakeEntry(entry: JsonObject, features: Features): JsonObject {
  let cache = known.get(features);
  if (!cache) known.set(features, (cache = new WeakMap()));
  let listed = cache.get(entry);
  if (!listed) cache.set(entry, (listed = shape(entry, features)));
  return listed;
}

function shape(entry: JsonObject, features: Features): JsonObject {
  let { icons, execution, title, outputSchema, _meta, ...rest } = entry;
  if (features.icons) rest = { ...rest, ...present({ icons }) };
  if (features.tasks) rest = { ...rest, ...present({ execution }) };
  if (features.structured)
    rest = { ...rest, ...present({ title, outputSchema: wrapOutputSchema(outputSchema), _meta }) };
  else rest = toAnnotated(rest);
  if (!features.structured && Array.isArray(rest.arguments)) {
    rest = { ...rest, arguments: rest.arguments.map(withoutTitle) };
  }
  if ('inputSchema' in rest && !features.toolAnnotations) delete rest.annotations;
  return rest;
}

function withoutTitle({ title, ...rest }: JsonObject): JsonObject {
  return rest;
}
