// Sessions in tokens of the MCP Flow format: base64 of {"sessionId", "state", "signature"}. The signature is the HMAC-SHA256, in hex, of the
// canonical JSON of the first two. It is signed, not encrypted: the holder can read the answers. It is for clients and servers that know no
// other format; Parley's own is the default. A token without a signature is never valid.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject } from '../../kernel/message.ts';
import { canonicalJson } from '../../kernel/base/canonical-json.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import type { JournalEntry, Header } from '../journal.ts';
import type { StoredSession } from '../store/store.ts';
import { toCompactSession } from './compact-session.ts';
import { createKeyRing } from './sealed-format.ts';
import { toTokenTooLarge } from './tokens.ts';
import type { TokenBinding, OpenedToken, TokenOptions, Tokens } from './tokens.ts';

/** The content of `state`. */
interface SignedState {
  audience: string;
  expiresAt: number;
  /** Grows with every token of the session. */
  turn: number;
  header: Header;
  entries: JournalEntry[];
}

const HARD_BYTES = 65_536;

export function createSignedTokens(options: TokenOptions): Tokens {
  const { keys, audience = 'mcp-parley', ttlMs = Infinity, hardBytes = HARD_BYTES, store } = options;
  const clock: Clock = options.clock ?? systemClock;
  createKeyRing(keys);

  async function seal({ header, entries }: StoredSession, _binding: TokenBinding): Promise<string> {
    const expiresAt = Math.min(clock.now() + ttlMs, header.expiresAt);
    const state: SignedState = { audience, expiresAt, turn: header.rev, header, entries };
    const token = signToken(keys, { sessionId: header.id, state: { ...state } });
    if (token.length <= hardBytes) return token;
    throw toTokenTooLarge({ header, entries }, toCompactSession({ header, entries }, clock.now()).rows, hardBytes);
  }

  async function open(token: string, binding: TokenBinding): Promise<OpenedToken> {
    const signed = token.length <= hardBytes ? verifyToken(keys, token) : undefined;
    const { audience: to, header, entries, expiresAt } = (signed?.state ?? {}) as Partial<SignedState>;
    if (to !== audience || !header || !entries || !expiresAt) return { ok: false, why: 'invalid' };
    if (header.id !== signed?.sessionId) return { ok: false, why: 'invalid' };
    if (header.principal !== binding.principal || header.tool !== binding.tool) return { ok: false, why: 'invalid' };
    if (expiresAt <= clock.now()) return { ok: false, why: 'expired' };
    return { ok: true, session: { header, entries } };
  }

  async function spend({ header: { id, rev, expiresAt } }: StoredSession): Promise<boolean> {
    return store === undefined || store.spend(id, rev, Math.min(ttlMs, expiresAt - clock.now()));
  }

  return { seal, open, spend };
}

interface SignedContent {
  sessionId: string;
  state: Record<string, unknown>;
}

/** The first key signs; all of them verify. */
function signToken([key]: readonly string[], { sessionId, state }: SignedContent): string {
  const signature = sign(key!, { sessionId, state }).toString('hex');
  return Buffer.from(JSON.stringify({ sessionId, state, signature }), 'utf8').toString('base64');
}

function verifyToken(keys: readonly string[], token: string): SignedContent | undefined {
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
