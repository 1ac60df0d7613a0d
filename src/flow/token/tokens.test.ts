import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomId } from '../../kernel/crypto/ids.ts';
import type { AnswerEntry, JournalEntry, Header } from '../journal.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { header as sample } from '../store/store-samples.contract.ts';
import type { StoredSession } from '../store/store.ts';
import type { TokenBinding, Tokens } from './tokens.ts';
import { createSignedTokens } from './signed-tokens.ts';
import { createTokens } from './tokens.ts';

const NOW = 1_763_190_000_123;
const clock = { now: () => NOW, after: () => () => undefined };
const keys = ['one key of this test'];
const binding: TokenBinding = {
  principal: 'p'.repeat(22),
  method: 'tools/call',
  tool: 'book',
  args: { city: 'Paris' },
};

function session(entries: JournalEntry[] = [], over: Partial<Header> = {}): StoredSession {
  const made = sample({
    principal: binding.principal,
    tool: binding.tool,
    state: 'waiting_user',
    via: 'mrtr',
    rev: 1,
    createdAt: NOW - 6e4,
    deadline: NOW - 6e4 + 36e5,
    ...over,
  });
  const seed = randomId();
  return { header: made, entries: [{ t: 'start', input: {}, seed, ts: made.createdAt }, ...entries] };
}

function answered(k: string, v: unknown, ts: number): AnswerEntry {
  return { t: 'ans', k, a: 1, ty: 'text', v, src: 'human', via: 'mrtr', ts };
}

async function opened(tokens: Tokens, token: string, bound = binding): Promise<StoredSession> {
  const result = await tokens.open(token, bound);
  if (!result.ok) throw new Error(result.why);
  return result.session;
}

/** What a token does not carry: found again, or of no use to another process. */
function carried({ header, entries }: StoredSession): StoredSession {
  const { current: _, lastActivityAt: _a, expiresAt: _e, size: _s, burst: _b, warned: _w, ...rest } = header;
  return {
    header: rest as Header,
    entries: entries.map((entry) => (entry.t === 'rej' ? { ...entry, why: '' } : entry)),
  };
}

describe('a token', () => {
  const tokens = createTokens({ keys, clock });

  it('gives the session back', async () => {
    const made = session([answered('city', 'Paris', NOW - 30_000)], {
      rounds: 2,
      prompts: 3,
      attempts: 1,
      locale: 'de',
    });
    const back = await opened(tokens, await tokens.seal(made, binding));
    expect(carried(back)).toEqual(carried(made));
    expect(back.header).toMatchObject({ current: [], lastActivityAt: NOW, expiresAt: NOW + made.header.timeoutMs });
  });

  it('takes 90 bytes and 25 for each short answer', async () => {
    const bytes = (token: string) => Buffer.from(token.slice(3), 'base64url').length;
    const empty = bytes(await tokens.seal(session(), binding));
    expect(empty).toBeLessThanOrEqual(90);
    const short = ['city', 'day', 'cls', 'meal', 'seat'].map((k, n) =>
      answered(k, 'eight ch', NOW - 50_000 + n * 9000),
    );
    const five = bytes(await tokens.seal(session(short), binding));
    expect((five - empty) / 5).toBeLessThanOrEqual(25);
    const fifty = Array.from({ length: 50 }, (_, n) =>
      answered(`q${n}`, 'twenty characters ok', NOW - 59_000 + n * 1000),
    );
    expect((await tokens.seal(session(fifty), binding)).length).toBeLessThanOrEqual(2300);
  });

  it('gives every journal back as it was', async () => {
    await fc.assert(
      fc.asyncProperty(anyEntries, anyHeader, async (entries, over) => {
        const made = session(entries, over);
        const room = createTokens({ keys, clock, hardBytes: 10_000_000 });
        const back = await opened(room, await room.seal(made, binding));
        expect(carried(back)).toEqual(carried(made));
        expect(JSON.stringify(back.entries.map(sortedKeys))).toBe(
          JSON.stringify(carried(made).entries.map(sortedKeys)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('keeps strings that are not proper Unicode, and names that mean something to JavaScript', async () => {
    const odd = ['\ud800', 'a\udfffb', '\0', '😀', JSON.parse('{"__proto__": {"x": 1}, "\\ud800": 2}') as unknown];
    const made = session(odd.map((v, n) => answered(`k${n}`, v, NOW - 1000)));
    const back = await opened(tokens, await tokens.seal(made, binding));
    expect(back.entries.slice(1, 5)).toEqual(made.entries.slice(1, 5));
    expect(Object.keys((back.entries[5] as AnswerEntry).v as object)).toEqual(['__proto__', '\ud800']);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it('travels whole where it has something new', async () => {
    const entry = { ...answered('city', 'Paris', NOW - 1000), later: 'field' } as JournalEntry;
    const unknown = { t: 'future', what: [1], ts: NOW - 500 } as unknown as JournalEntry;
    const made = session([entry, unknown]);
    Object.assign(made.header, { novel: { a: 1 }, pending: { kind: 'cancel', reason: 'x' } });
    Object.assign(made.entries[0]!, { fresh: true });
    const back = await opened(tokens, await tokens.seal(made, binding));
    expect(carried(back)).toEqual(carried(made));
  });

  it('is made only for the session it is of', async () => {
    await expect(tokens.seal(session(), { ...binding, tool: 'other' })).rejects.toThrow(TypeError);
    await expect(tokens.seal(session(), { ...binding, principal: 'other' })).rejects.toThrow(TypeError);
    await expect(tokens.seal(session([], { id: 'session_short' }), binding)).rejects.toThrow(/not the id/);
    expect(() => createTokens({ keys: [] })).toThrow(/at least one key/);
    expect(() => createTokens({ keys: ['a', ''] })).toThrow(/none may be empty/);
    expect(() => createTokens({ keys: ['x'.repeat(15)] })).toThrow(/at least 16 characters/);
  });
});

describe('the size of a token', () => {
  const long = session([answered('name', 'Ann', NOW - 2000), answered('notes', 'x'.repeat(20_000), NOW - 1000)]);

  it('has a limit, and what takes the room is named', async () => {
    const sealed = createTokens({ keys, clock });
    await expect(sealed.seal(long, binding)).rejects.toMatchObject({
      code: 'FLOW_LIMIT',
      message: expect.stringMatching(/no more than 16384 bytes in a token of book.*the answer notes, 200\d\d bytes/),
    });
    const signed = createSignedTokens({ keys, clock, hardBytes: 16_384 });
    await expect(signed.seal(long, binding)).rejects.toMatchObject({
      code: 'FLOW_LIMIT',
      details: { limit: 'tokenBytes' },
    });
    const input = session();
    Object.assign(input.entries[0]!, { input: { text: 'y'.repeat(20_000) } });
    await expect(sealed.seal(input, binding)).rejects.toThrow(/largest part is the input/);
  });

  it('stays short where a store takes what is long', async () => {
    const store = memoryStore();
    const tokens = createTokens({ keys, clock, store });
    const token = await tokens.seal(long, binding);
    expect(token.length).toBeLessThan(250);
    expect((await opened(tokens, token)).entries).toEqual(long.entries);
    expect(await createTokens({ keys, clock, store: memoryStore() }).open(token, binding)).toEqual({
      ok: false,
      why: 'expired',
    });
    await expect(createTokens({ keys, clock }).open(token, binding)).rejects.toThrow(/refers to a store/);
    expect((await tokens.seal(session(), binding)).length).toBeLessThan(130);
  });
});

const text = fc.string({ unit: 'binary', maxLength: 12 });
const ts = fc.integer({ min: NOW - 1_000_000, max: NOW });
const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false }).map((v) => JSON.parse(JSON.stringify(v)) as unknown);
const source = fc.constantFrom('human' as const, 'ui' as const, 'model' as const, 'args' as const, 'default' as const);
const failure = fc.record({ name: text, message: text });
const optional = { requiredKeys: [] as never[] };

const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc
    .tuple(
      fc.record({
        t: fc.constant('ans' as const),
        k: text,
        a: fc.nat(5),
        src: source,
        ts,
        ty: fc.constantFrom('text', 'choice', 'confirm', 'form', '', 'unheard of'),
        via: fc.constantFrom('mrtr' as const, 'flow' as const, 'args' as const),
      }),
      fc.record({ v: json, f: text, no: fc.constantFrom('declined' as const, 'timeout' as const) }, optional),
    )
    .map(([one, more]) => ({ ...one, ...more })),
  fc.record({ t: fc.constant('int' as const), k: text, idem: fc.oneof(text, fc.base64String()), ts }),
  fc
    .tuple(
      fc.record({ t: fc.constant('step' as const), k: text, att: fc.integer({ min: 1, max: 4 }), ts }),
      fc.record({ v: json, e: failure }, optional),
    )
    .map(([one, more]) => ({ ...one, ...more })),
  fc.record({ t: fc.constantFrom('cut' as const, 'undo' as const), k: text, ts }) as fc.Arbitrary<JournalEntry>,
  fc.record({ t: fc.constant('edit' as const), k: text, v: json, src: source, ts }),
  fc.record({ t: fc.constant('ver' as const), id: text, on: fc.boolean(), ts }),
  fc.record({ t: fc.constant('rej' as const), k: text, a: fc.nat(9), why: text, ts }),
);
const anyEntries = fc.array(anyEntry, { maxLength: 12 });
const anyHeader = fc.record(
  {
    state: fc.constantFrom('waiting_user' as const, 'processing' as const, 'active' as const),
    locale: text,
    rev: fc.nat(500),
    rounds: fc.nat(40),
    prompts: fc.nat(100),
    attempts: fc.nat(100),
    version: text,
    timeoutMs: fc.integer({
      min: 1e3,
      max: 6e5,
    }),
    reason: text,
    via: fc.constantFrom('mrtr' as const, 'flow' as const, 'relay' as const),
  },
  optional,
);

function sortedKeys(entry: JournalEntry): unknown {
  return Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)));
}
