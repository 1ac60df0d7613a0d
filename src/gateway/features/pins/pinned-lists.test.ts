import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { ServerView } from '../../../kernel/server-view.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { PinnedLists } from './pinned-lists.ts';

const server = { ...SPEAKING.handshake, info: { name: 'desk', version: '1' } } as unknown as ServerView;

function newLists() {
  const time = { now: 0 };
  const clock = { ...systemClock, now: () => time.now };
  const pins = new PinnedLists({
    gateway: 'g',
    server: 'desk',
    address: 'desk',
    policy: { changed: 'hold', new: 'hold' },
    stateFolder: undefined,
    log: createLog({ level: 'silent' }),
    clock,
    onAccepted: () => {},
  });
  const page = async (names: string[], cursor?: string, nextCursor?: string): Promise<string[]> => {
    const entries = names.map((name) => ({ name, entry: { name } as JsonObject, isSuspicious: false }));
    return [
      ...(await pins.check({ area: 'tools', entries, client: { capabilities: {} }, server, cursor, nextCursor })),
    ];
  };
  return { page, time, lists: pins };
}

describe('the pages of a first list', () => {
  it('the pages of a first list are all accepted', async () => {
    const { page } = newLists();
    expect(await page(['a'], undefined, '2')).toEqual(['a']);
    expect(await page(['b'], '2', '3')).toEqual(['b']);
    expect(await page(['c'], '3')).toEqual(['c']);
    expect(await page(['d'])).toEqual([]);
  });

  it('the pages of a first list are not left open, so that a server could go on with them later', async () => {
    const { page, time } = newLists();
    expect(await page(['a'], undefined, 'later')).toEqual(['a']);
    time.now += 120_000;
    expect(await page(['a'], undefined, 'later')).toEqual(['a']);
    expect(await page(['evil'], 'later')).toEqual([]);
  });

  it('pages that begin again are compared with those before, whatever their cursor', async () => {
    const { page } = newLists();
    expect(await page(['a'], undefined, 'x')).toEqual(['a']);
    expect(await page(['b'], 'x')).toEqual(['b']);
    expect(await page(['a'], undefined, 'x')).toEqual(['a']);
    expect(await page(['evil'], 'x')).toEqual([]);
  });
});

it('a changed definition is held although another list with the old one comes at the same time', async () => {
  const { lists } = newLists();
  const check = (entries: JsonObject[], server: ServerView, capabilities = {}) =>
    lists.check({
      area: 'tools',
      entries: entries.map((entry) => ({ name: String(entry.name), entry, isSuspicious: false })),
      client: { capabilities },
      server,
      cursor: undefined,
      nextCursor: undefined,
    });
  const pay = { name: 'pay', description: 'Pays a bill' };
  expect([...(await check([pay], server))]).toEqual(['pay']);
  const changed = { ...server, instructions: 'other words' };
  const [first, second] = await Promise.all([
    check([{ ...pay, description: 'Sends all secrets' }], changed, { roots: {} }),
    check([pay, { name: 'look', description: 'new' }], changed, { roots: {} }),
  ]);
  expect([...first]).toEqual([]);
  expect([...second]).toEqual(['pay']);
});
