// Attacks on both token formats.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../kernel/base/canonical-json.ts';
import { randomId } from '../../kernel/crypto/ids.ts';
import type { AnswerEntry, Header } from '../journal.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { header as sample } from '../store/store-samples.contract.ts';
import type { StoredSession } from '../store/store.ts';
import type { TokenBinding, TokenOptions, Tokens } from './tokens.ts';
import { createSignedTokens } from './signed-tokens.ts';
import { createTokens } from './tokens.ts';

const MINUTE = 60_000;
let now = 1_763_190_000_123;
const clock = { now: () => now, after: () => () => undefined };
const binding: TokenBinding = {
  principal: 'alice',
  method: 'tools/call',
  tool: 'book',
  args: { city: 'Paris', day: 1 },
};
const INVALID = { ok: false, why: 'invalid' };
const EXPIRED = { ok: false, why: 'expired' };

const FORMS: Record<string, (options?: Partial<TokenOptions>) => Tokens> = {
  sealed: (options) => createTokens({ keys: ['a key of this test'], clock, ...options }),
  signed: (options) => createSignedTokens({ keys: ['a key of this test'], clock, ...options }),
};

function session(over: Partial<Header> = {}, answers: string[] = []): StoredSession {
  const header = sample({
    principal: 'alice',
    tool: 'book',
    state: 'waiting_user',
    via: 'mrtr',
    createdAt: now,
    expiresAt: now + 5 * MINUTE,
    deadline: now + 60 * MINUTE,
    ...over,
  });
  const entries = answers.map((v, n): AnswerEntry => ({
    t: 'ans',
    k: `q${n}`,
    a: 1,
    ty: 'text',
    v,
    src: 'human',
    via: 'mrtr',
    ts: now,
  }));
  return { header, entries: [{ t: 'start', input: {}, seed: randomId(), ts: now }, ...entries] };
}

describe.each(Object.entries(FORMS))('a %s token', (form, make) => {
  const tokens = make();
  const token = () => tokens.seal(session({}, ['Paris']), binding);

  it('opens for what it was made for, arguments in any order', async () => {
    expect(await tokens.open(await token(), { ...binding, args: { day: 1, city: 'Paris' } })).toMatchObject({
      ok: true,
    });
  });

  it.each<[string, Partial<TokenBinding>]>([
    ['another user', { principal: 'mallory' }],
    ['another tool', { tool: 'pay' }],
  ])('does not open for %s', async (_, over) => {
    expect(await tokens.open(await token(), { ...binding, ...over })).toEqual(INVALID);
  });

  it('does not open with another key, or for another server', async () => {
    expect(await make({ keys: ['another key of this test'] }).open(await token(), binding)).toEqual(INVALID);
    expect(await make({ audience: 'other' }).open(await token(), binding)).toEqual(INVALID);
  });

  it('follows the keys as they are changed', async () => {
    const [a, b] = ['the old key of all', 'the new key of all'];
    const [old, both, turned, last] = [[a], [a, b], [b, a], [b]].map((keys) => make({ keys }));
    const first = await old!.seal(session(), binding);
    for (const ring of [old, both, turned]) expect(await ring!.open(first, binding)).toMatchObject({ ok: true });
    expect(await last!.open(first, binding)).toEqual(INVALID);
    const second = await turned!.seal(session(), binding);
    for (const ring of [both, turned, last]) expect(await ring!.open(second, binding)).toMatchObject({ ok: true });
    expect(await old!.open(second, binding)).toEqual(INVALID);
  });

  it('does not open with any bit of it changed', async () => {
    const whole = await token();
    for (let at = 0; at < whole.length; at++) {
      for (const bit of [1, 2, 4, 16]) {
        const changed = whole.slice(0, at) + String.fromCharCode(whole.charCodeAt(at) ^ bit) + whole.slice(at + 1);
        expect(await tokens.open(changed, binding), `${at} ${bit}`).toEqual(INVALID);
      }
    }
  });

  it('does not open cut short, made longer, or doubled', async () => {
    const whole = await token();
    for (let length = 0; length < whole.length; length++) {
      expect(await tokens.open(whole.slice(0, length), binding)).toEqual(INVALID);
    }
    for (const more of ['A', '=', '\n', ' ', '.', whole]) {
      expect(await tokens.open(whole + more, binding)).toEqual(INVALID);
      expect(await tokens.open(more + whole, binding)).toEqual(INVALID);
    }
  });

  it('expires: at the end of the waiting, of the session, of its own time if it has one', async () => {
    const start = now;
    const long = { timeoutMs: 60 * MINUTE, expiresAt: now + 60 * MINUTE, deadline: now + 90 * MINUTE };
    const cases: [Partial<Header>, number, Tokens][] = [
      [long, 60 * MINUTE, tokens],
      [long, 10 * MINUTE, make({ ttlMs: 10 * MINUTE })],
      [{}, 5 * MINUTE, tokens],
      [{ deadline: now + MINUTE, expiresAt: now + MINUTE }, MINUTE, tokens],
    ];
    for (const [over, lives, some] of cases) {
      now = start;
      const made = await some.seal(session(over), binding);
      now = start + lives - 1;
      expect(await some.open(made, binding)).toMatchObject({ ok: true });
      now = start + lives;
      expect(await some.open(made, binding)).toEqual(EXPIRED);
    }
    now = start;
  });

  it('is not even read when it is too long', async () => {
    expect(await make({ hardBytes: 100 }).open(await token(), binding)).toEqual(INVALID);
    const noise = form === 'sealed' ? `f1.${randomBytes(3_000_000).toString('base64url')}` : 'A'.repeat(4_000_000);
    expect(await tokens.open(noise, binding)).toEqual(INVALID);
  });

  it.each(['', 'f1.', 'f1', '.', 'e30=', 'bnVsbA==', 'W10=', 'null', '{}', 'f2.AAAA', '\0', '😀'.repeat(50)])(
    'is not %j',
    async (text) => expect(await tokens.open(text, binding)).toEqual(INVALID),
  );

  it('forks when an old one is shown again, unless a store counts the turns', async () => {
    const made = session({}, ['Paris']);
    const spend = async (counting: Tokens, shown: string) => {
      const opened = await counting.open(shown, binding);
      return opened.ok && counting.spend(opened.session);
    };
    const old = await tokens.seal(made, binding);
    expect([await spend(tokens, old), await spend(tokens, old)]).toEqual([true, true]);

    const counting = make({ store: memoryStore() });
    const first = await counting.seal(made, binding);
    const twice = await Promise.all([spend(counting, first), spend(counting, first)]);
    expect(twice).toEqual([true, false]);
    // Another seal of the same turn is the same turn.
    expect(await spend(counting, await counting.seal(made, binding))).toBe(false);
    const next = await counting.seal({ ...made, header: { ...made.header, rev: made.header.rev + 1 } }, binding);
    expect(await spend(counting, next)).toBe(true);
    // Back to the turn before.
    expect(await spend(counting, first)).toBe(false);
  });
});

describe('a sealed token', () => {
  const tokens = FORMS['sealed']!();

  it.each<[string, Partial<TokenBinding>]>([
    ['another method', { method: 'prompts/get' }],
    ['other arguments', { args: { city: 'Rome', day: 1 } }],
    ['no arguments', { args: undefined }],
    ['arguments of another type', { args: { city: 'Paris', day: '1' } }],
  ])('does not open for %s', async (_, over) => {
    const token = await tokens.seal(session(), binding);
    expect(await tokens.open(token, { ...binding, ...over })).toEqual(INVALID);
  });

  it('cannot be put together from two', async () => {
    const [a, b] = await Promise.all(
      [session({}, ['yes']), session({}, ['no!'])].map(async (one) => {
        return Buffer.from((await tokens.seal(one, binding)).slice(3), 'base64url');
      }),
    );
    // Key id, session id, nonce, body, tag: any part of one in the other.
    const ends = [0, 4, 20, 32, a!.length - 16, a!.length];
    for (let part = 1; part < ends.length - 1; part++) {
      const mixed = Buffer.concat([
        a!.subarray(0, ends[part]),
        b!.subarray(ends[part], ends[part + 1]),
        a!.subarray(ends[part + 1]),
      ]);
      expect(await tokens.open(`f1.${mixed.toString('base64url')}`, binding)).toEqual(INVALID);
    }
  });

  it('shows nothing of what is in it, and never looks the same twice', async () => {
    const made = session({}, ['SECRET-ANSWER']);
    const [one, two] = [await tokens.seal(made, binding), await tokens.seal(made, binding)];
    expect(one).not.toBe(two);
    expect(Buffer.from(one.slice(3), 'base64url').includes('SECRET')).toBe(false);
  });
});

describe('a signed token', () => {
  const tokens = FORMS['signed']!();
  const unpacked = async () =>
    JSON.parse(Buffer.from(await tokens.seal(session(), binding), 'base64').toString()) as Signed;
  const packed = (said: unknown) => Buffer.from(JSON.stringify(said)).toString('base64');
  interface Signed {
    sessionId: string;
    state: { expiresAt: number; header: Header };
    signature: string;
  }

  it('has the form of the document', async () => {
    const said = await unpacked();
    expect(Object.keys(said)).toEqual(['sessionId', 'state', 'signature']);
    expect(said.signature).toMatch(/^[0-9a-f]{64}$/);
    expect(said.state).toMatchObject({ turn: 1, expiresAt: now + 5 * MINUTE });
    expect(await tokens.open(packed(said), binding)).toMatchObject({ ok: true });
  });

  it.each([undefined, null, '', 0, true, [], {}, 'forged', '0'.repeat(64), '0'.repeat(63)])(
    'is nothing with the signature %j',
    async (signature) => {
      const { sessionId, state } = await unpacked();
      expect(await tokens.open(packed({ sessionId, state, signature }), binding)).toEqual(INVALID);
    },
  );

  it('does not take another state or id under the same signature', async () => {
    const said = await unpacked();
    const other = await unpacked();
    const { header } = said.state;
    for (const forged of [
      { ...said, sessionId: other.sessionId },
      { ...said, state: other.state },
      { ...said, signature: other.signature },
      { ...said, state: { ...said.state, expiresAt: said.state.expiresAt + 1 } },
      { ...said, state: { ...said.state, header: { ...header, principal: 'mallory' } } },
      { ...said, state: { ...said.state, __proto__: null } },
    ]) {
      if (canonicalJson(forged) === canonicalJson(said)) continue;
      expect(await tokens.open(packed(forged), binding)).toEqual(INVALID);
    }
  });

  it('is the same whatever the order of its members', async () => {
    const { sessionId, state, signature } = await unpacked();
    const reversed = Object.fromEntries(Object.entries(state).reverse());
    expect(await tokens.open(packed({ signature, state: reversed, sessionId }), binding)).toMatchObject({ ok: true });
  });
});
