// What is the same in request after request of a client: in the stateless era, all that it says of itself.
import type { JsonObject } from '../../protocol/message.ts';
import { ENVELOPE } from './meta.ts';

export const RECURRING = {
  method: 'tools/call',
  /** A key that is not the envelope's is somebody else's, or is another one each time. */
  isMeta: (meta: JsonObject): boolean => Object.keys(meta).every((key) => ENVELOPE.has(key)),
};
