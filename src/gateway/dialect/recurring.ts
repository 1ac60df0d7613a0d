// Tells the request reader which `_meta` repeats in every request of a client: in the stateless era, its description of
// itself.
import type { JsonObject } from '../../protocol/message.ts';
import { ENVELOPE } from './meta.ts';

export const RECURRING = {
  method: 'tools/call',
  /** Only envelope keys repeat; any other key may differ each time. */
  isMeta: (meta: JsonObject): boolean => Object.keys(meta).every((key) => ENVELOPE.has(key)),
};
