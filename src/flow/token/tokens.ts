// Sessions in tokens: each turn gives the client a token with the whole session, and the next turn opens it on any machine that has the keys.
// An old token that is sent again forks the session. The idempotency key of a step is the same on every fork, so its receiver can reject
// the second; where that is not enough, `spend` with a store lets each token be used once.
import { createHash, hash } from 'node:crypto';
import { isObject } from '../../kernel/message.ts';
import { canonicalJson } from '../../kernel/base/canonical-json.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Header, JournalEntry } from '../journal.ts';
import type { BlobStore, SharedStore, StoredSession } from '../store/store.ts';
import { fromCbor, toCbor } from './cbor.ts';
import { fromCompactSession, toCompactSession } from './compact-session.ts';
import type { CompactRow } from './compact-session.ts';
import { createKeyRing, openToken, sealToken, toSessionId, toSid } from './sealed-format.ts';

export interface TokenOptions {
  /** The first one seals, all of them open. */
  keys: readonly string[];
  /** The server that accepts the tokens. Servers that share keys but not tokens need different audiences. */
  audience?: string | undefined;
  /** Lifetime of a token, bounded by the expiry of its session. Default: as long as its session. */
  ttlMs?: number | undefined;
  /** From this length on the entries go to the store, if there is one. `hardBytes` is the maximum. */
  softBytes?: number | undefined;
  hardBytes?: number | undefined;
  /** Holds spent turns, and entries that are too long for a token. */
  store?: SharedStore | undefined;
  clock?: Clock | undefined;
}

/** `why` is for the log and the error code; the client learns no more. */
export type OpenedToken = { ok: true; session: StoredSession } | { ok: false; why: 'invalid' | 'expired' };

/**
 * A token does not open for another principal, server, tool or other arguments. The binding is authenticated with the token, but not stored in
 * it. Must not change after a token was opened or sealed with it.
 */
export interface TokenBinding {
  /** The hash from the session's header, never the name. */
  principal: string;
  /** The method that carries the token: `tools/call`, `interaction`, … */
  method: string;
  tool: string;
  /** The arguments of the call that is repeated with the token. */
  args?: unknown;
}

export interface Tokens {
  seal(session: StoredSession, binding: TokenBinding): Promise<string>;
  /** Opens a token without spending it. It has no open questions; a replay finds them. */
  open(token: string, binding: TokenBinding): Promise<OpenedToken>;
  /** True for the first caller that continues from this turn; without a store always true. */
  spend(session: StoredSession): Promise<boolean>;
}

const SOFT_BYTES = 4096;
const HARD_BYTES = 16_384;

const INVALID = { ok: false, why: 'invalid' } as const;
const EXPIRED = { ok: false, why: 'expired' } as const;

/**
 * Sealed tokens: the client carries the session, and the server keeps nothing.
 *
 * @example
 * ```ts
 * import { createTokens, flow, TokenFlowSessions } from 'mcp-parley/flow';
 *
 * const trip = flow({ name: 'trip' }, async (ask) => `Booked: ${await ask.text('city')}`);
 * const sessions = new TokenFlowSessions([trip], { tokens: createTokens({ keys: [process.env['FLOW_TOKEN_KEY'] ?? ''] }) });
 * ```
 */
export function createTokens(options: TokenOptions): Tokens {
  const { audience = 'mcp-parley', ttlMs = Infinity, softBytes = SOFT_BYTES, hardBytes = HARD_BYTES, store } = options;
  const clock = options.clock ?? systemClock;
  const ring = createKeyRing(options.keys);
  const digestFor = createDigests(audience);

  const sealPlain = (header: Header, plain: unknown, binding: TokenBinding): string =>
    sealToken(ring, { sid: toSid(header.id), plain: toCbor(plain) }, digestFor(binding));

  async function seal(session: StoredSession, binding: TokenBinding): Promise<string> {
    const { header } = session;
    if (header.principal !== binding.principal || header.tool !== binding.tool) {
      throw new TypeError(`a token of ${header.tool} cannot be bound to somebody or something else`);
    }
    const { head, rows } = toCompactSession(session, clock.now());
    const token = sealPlain(header, [head, rows], binding);
    if (token.length <= (store ? softBytes : hardBytes)) return token;
    if (!store) throw toTokenTooLarge(session, rows, hardBytes);
    const short = sealPlain(header, [head, await spill(store, rows, header.deadline - clock.now())], binding);
    if (short.length > hardBytes) throw toTokenTooLarge(session, [], hardBytes);
    return short;
  }

  async function open(token: string, binding: TokenBinding): Promise<OpenedToken> {
    if (token.length > hardBytes) return INVALID;
    const opened = openToken(ring, token, digestFor(binding));
    if (!opened) return INVALID;
    const [head, kept] = fromCbor(opened.plain) as [CompactRow, CompactRow[] | Uint8Array];
    const rows = kept instanceof Uint8Array ? await fetched(store, kept) : kept;
    if (!rows) return EXPIRED;
    const known = { id: toSessionId(opened.sid), tool: binding.tool, principal: binding.principal };
    const { header, entries, at } = fromCompactSession({ head, rows }, known);
    if (Math.min(at + ttlMs, header.expiresAt) <= clock.now()) return EXPIRED;
    return { ok: true, session: { header, entries } };
  }

  /** Remembered as long as the token is valid. */
  async function spend({ header: { id, rev, expiresAt } }: StoredSession): Promise<boolean> {
    return store === undefined || store.spend(id, rev, Math.min(ttlMs, expiresAt - clock.now()));
  }

  return { seal, open, spend };
}

const MAX_KNOWN_DIGESTS = 1000;

/** `digestBinding` for one audience. Digests of requests without arguments are cached; arguments are never kept. */
function createDigests(audience: string): (binding: TokenBinding) => Buffer {
  const known = new BoundedMap<string, Buffer>(MAX_KNOWN_DIGESTS);
  /** The token of a request and the next token share one binding. */
  const own = new WeakMap<TokenBinding, Buffer>();
  return (binding) => {
    const { principal, method, tool, args } = binding;
    const name = hasNothing(args) ? JSON.stringify([principal, method, tool, args ?? null]) : undefined;
    if (name !== undefined) return known.getOrCreate(name, () => digestBinding(audience, binding));
    const digest = own.get(binding) ?? digestBinding(audience, binding);
    own.set(binding, digest);
    return digest;
  };
}

function hasNothing(args: unknown): boolean {
  if (args === undefined || args === null) return true;
  return isObject(args) && Object.keys(args).length === 0;
}

function digestBinding(audience: string, { principal, method, tool, args }: TokenBinding): Buffer {
  const salient = [audience, principal, method, tool, args ?? null];
  return Buffer.from(hash('sha256', canonicalJson(salient), 'hex'), 'hex');
}

async function spill(store: BlobStore, rows: CompactRow[], ms: number): Promise<Uint8Array> {
  const bytes = toCbor(rows);
  const digest = createHash('sha256').update(bytes).digest();
  await store.putBlob(digest.toString('hex'), bytes, ms);
  return Uint8Array.from(digest);
}

async function fetched(store: BlobStore | undefined, digest: Uint8Array): Promise<CompactRow[] | undefined> {
  if (!store)
    throw new GatewayError('STORE_UNUSABLE', { reason: 'a token refers to a store, but this server has none' });
  const bytes = await store.getBlob(Buffer.from(digest).toString('hex'));
  return bytes && (fromCbor(bytes) as CompactRow[]);
}

const KINDS: Partial<Record<JournalEntry['t'], string>> = {
  ans: 'the answer',
  step: 'the result of step',
  edit: 'the answer',
};

/** The error for a session that does not fit into its token. It names the largest part. */
export function toTokenTooLarge(
  { header, entries }: StoredSession,
  rows: readonly CompactRow[],
  limit: number,
): GatewayError {
  let [bytes, what] = [toCbor(inputOf(entries[0])).length, 'the input'];
  for (const [index, row] of rows.entries()) {
    const size = toCbor(row).length;
    if (size > bytes) [bytes, what] = [size, nameOf(entries[index + 1]!)];
  }
  const largest = `the largest part is ${what}, ${bytes} bytes`;
  return new GatewayError('FLOW_LIMIT', {
    sessionId: header.id,
    limit: 'tokenBytes',
    what: `no more than ${limit} bytes in a token of ${header.tool}; ${largest}`,
  });
}

function nameOf(entry: JournalEntry): string {
  const kind = KINDS[entry.t] ?? entry.t;
  return 'k' in entry ? `${kind} ${entry.k}` : kind;
}

function inputOf(start: JournalEntry | undefined): unknown {
  return start?.t === 'start' ? [start.input, start.context] : [];
}
