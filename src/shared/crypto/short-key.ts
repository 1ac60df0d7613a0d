// A key of bounded length for what a peer declares: a long text is replaced by its hash, and short ones stay readable.
import { lazyCrypto } from './lazy-crypto.ts';

const MAX_CHARS = 512;

export function toShortKey(text: string): string {
  return text.length <= MAX_CHARS ? text : `#${lazyCrypto().createHash('sha256').update(text).digest('base64url')}`;
}
