import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../../mcp/eras/fake-views.contract.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { UNAVAILABLE_KEY } from '../../kernel/target.ts';
import { createLog } from '../../kernel/base/log.ts';
import { FakeClock } from '../../mcp/eras/fake-context.contract.ts';
import { Catalog } from './catalog.ts';
import type { Member } from './member.ts';

const START_MS = 1000;

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function client(dialect: ClientView['dialect'] = 'handshake', capabilities = {}): ClientView {
  return { ...SPEAKING[dialect], capabilities, revision: 'r', info: { name: 'c', version: '1' }, principal: 'p' };
}

/** Each request waits until the test answers it. */
function setUp() {
  const clock = new FakeClock();
  const asked: { answer: (...names: string[]) => void; fail: () => void }[] = [];
  const target = {
    info: { name: 's', version: '1' },
    capabilities: () => ({ tools: {} }),
    watch: () => () => {},
    handle: (_: Exchange) =>
      new Promise<JsonObject>((resolve, reject) => {
        asked.push({
          answer: (...names) => resolve({ tools: names.map((name) => ({ name })) }),
          fail: () => reject(new Error('timed out')),
        });
      }),
  };
  const member: Member = { name: 's', target };
  const catalog = new Catalog(member, { clock, startMs: () => START_MS, log: createLog({ level: 'silent' }) });
  const late: string[] = [];
  catalog.onLate = (kind) => void late.push(kind);
  /** What a client is shown, or nothing while it waits. */
  const list = async (one = client()) => {
    const seen: { names?: string[]; isMarked?: boolean } = {};
    void catalog.list('tools', one).then(({ entries }) => {
      seen.names = entries.map(({ name }) => String(name));
      seen.isMarked = entries.some(({ _meta }) => UNAVAILABLE_KEY in ((_meta ?? {}) as JsonObject));
    });
    await settled();
    return seen;
  };
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settled();
  };
  return { pass, asked, late, list };
}

describe('a member that lists slowly', () => {
  it('one client waits for a slow list; later ones get the last list at once, and are notified of a change', async () => {
    const { pass, asked, late, list } = setUp();
    const first = await list();
    await pass(START_MS / 2);
    expect(first).toEqual({});
    asked[0]!.answer('a');
    await settled();
    expect(first.names).toEqual(['a']);
    expect(await list()).toEqual({ names: ['a'], isMarked: false });
    await pass(START_MS / 2);
    asked[1]!.answer('a');
    await settled();
    expect(late).toEqual([]);
    expect(await list(client('stateless'))).toEqual({ names: ['a'], isMarked: false });
    asked[2]!.answer('a', 'b');
    await settled();
    expect(late).toEqual(['tools']);
  });

  it('a member that lists slowly is waited for again once it is quick', async () => {
    const { pass, asked, list } = setUp();
    await list();
    await pass(START_MS / 2);
    asked[0]!.answer('a');
    await settled();
    await list();
    asked[1]!.answer('a');
    await settled();
    const third = await list();
    expect(third).toEqual({});
    asked[2]!.answer('b');
    await settled();
    expect(third.names).toEqual(['b']);
  });
});

describe('a long list', () => {
  it.each([
    ['many', Array.from({ length: 1000 }, (_, n) => `tool-${n}`)],
    ['large', ['x'.repeat(2_000_000)]],
  ])('of %s entries is shown again for a moment, so that others do not wait for it', async (_kind, names) => {
    const { pass, asked, list } = setUp();
    const one = client('stateless');
    await list(one);
    asked[0]!.answer(...names);
    await settled();
    expect((await list(one)).names).toEqual(names);
    expect(asked).toHaveLength(1);
    await pass(1000);
    await list(one);
    expect(asked).toHaveLength(2);
  });

  it('a long list is not kept if it is short', async () => {
    const { asked, list } = setUp();
    const one = client('stateless');
    await list(one);
    asked[0]!.answer('a');
    await settled();
    await list(one);
    expect(asked).toHaveLength(2);
  });
});

describe('a member that never lists', () => {
  it('makes one client wait, and is asked again ever more rarely', async () => {
    const { pass, asked, late, list } = setUp();
    const first = await list();
    await pass(START_MS);
    expect(first.names).toEqual([]);
    expect(await list(client('stateless'))).toMatchObject({ names: [] });
    for (let round = 0; round < 3; round++) {
      const open = asked.length;
      for (const { fail } of asked) fail();
      await settled();
      expect((await list()).names).toEqual([]);
      expect(asked).toHaveLength(open); // not so soon
      await pass(60_000);
      expect((await list()).names).toEqual([]);
      expect(asked).toHaveLength(open + 1);
    }
    asked.at(-1)!.answer('a');
    await settled();
    expect(late).toEqual(['tools']);
  });

  it('a member that never lists has its last list marked', async () => {
    const { pass, asked, list } = setUp();
    await list();
    asked[0]!.answer('a');
    await settled();
    const second = await list();
    await pass(START_MS);
    expect(second).toEqual({ names: ['a'], isMarked: true });
    expect(await list(client())).toEqual({ names: ['a'], isMarked: true });
  });
});

it('a member to which the empty cursor means the end does not show its tools twice', async () => {
  const target = {
    info: { name: 's', version: '1' },
    capabilities: () => ({ tools: {} }),
    watch: () => () => {},
    handle: () => Promise.resolve({ tools: [{ name: 'a' }], nextCursor: '' }),
  };
  const options = { clock: new FakeClock(), startMs: () => START_MS, log: createLog({ level: 'silent' }) };
  const { entries } = await new Catalog({ name: 's', target }, options).list('tools', client());
  expect(entries).toEqual([{ name: 'a' }]);
});
