// The list entry of a definition, without undefined fields.
import type { JsonObject } from '../protocol/message.ts';
import { present } from '../protocol/message.ts';

interface Described {
  title?: string;
  description?: string;
  icons?: object[];
  meta?: JsonObject;
}

export function toListEntry(identity: JsonObject, { title, description, icons, meta }: Described, own: JsonObject) {
  return present({ ...identity, title, description, ...own, icons, _meta: meta });
}
