// Sessions in tokens of the MCP Flow format. They hold the whole state, readable and signed: principal, audience, expiry and turn.
import type { Clock } from '../../shared/clock.ts';
import { systemClock } from '../../shared/clock.ts';
import type { JournalEntry, Header } from '../journal.ts';
import type { StoredSession } from '../store/store.ts';
import type { TokenBinding } from './binding.ts';
import { createKeyRing } from './key-ring.ts';
import { signToken, verifyToken } from './signed-format.ts';
import { toTokenTooLarge } from './token-too-large.ts';
import { toCompactSession } from './compact-session.ts';
import type { OpenedToken, TokenOptions, Tokens } from './tokens.ts';

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
