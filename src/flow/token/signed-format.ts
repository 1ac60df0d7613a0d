// The token format of MCP Flow: base64 of {"sessionId", "state", "signature"}. The signature is the HMAC-SHA256, in hex, of the canonical JSON
// of the first two. It is signed, not encrypted: the holder can read the answers. It is for clients and servers that know no other
// format; Parley's own is the default. A token without a signature is never valid.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject } from '../../protocol/message.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';

export interface SignedContent {
  sessionId: string;
  state: Record<string, unknown>;
}

/** The first key signs; all of them verify. */
export function signToken([key]: readonly string[], { sessionId, state }: SignedContent): string {
  const signature = sign(key!, { sessionId, state }).toString('hex');
  return Buffer.from(JSON.stringify({ sessionId, state, signature }), 'utf8').toString('base64');
}

export function verifyToken(keys: readonly string[], token: string): SignedContent | undefined {
  const bytes = Buffer.from(token, 'base64');
  if (bytes.toString('base64') !== token) return undefined;
  const said = parsed(bytes.toString('utf8'));
  if (!isObject(said)) return undefined;
  const { sessionId, state, signature } = said;
  if (typeof sessionId !== 'string' || !isObject(state) || typeof signature !== 'string') return undefined;
  if (!/^[0-9a-f]{64}$/.test(signature)) return undefined;
  const claimed = Buffer.from(signature, 'hex');
  const signed = { sessionId, state };
  return keys.some((key) => timingSafeEqual(sign(key, signed), claimed)) ? signed : undefined;
}

function sign(key: string, signed: SignedContent): Buffer {
  return createHmac('sha256', key).update(canonicalJson(signed)).digest();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
