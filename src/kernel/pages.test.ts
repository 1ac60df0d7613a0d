import { describe, expect, it } from 'vitest';
import type { JsonObject } from './message.ts';
import { pages } from './pages.ts';

/** The names that a reader gets, the cursors it asked with, and why it stopped early. */
async function read(answer: (cursor: unknown, page: number) => JsonObject) {
  const names: string[] = [];
  const cursors: unknown[] = [];
  let cutOff: string | undefined;
  const fetch = ({ cursor }: { cursor?: unknown }) => Promise.resolve(answer(cursor, cursors.push(cursor)));
  for await (const page of pages({ key: 'tools', fetch, onCutOff: (why) => (cutOff = why) })) {
    names.push(...(page.tools as string[]));
  }
  return { names, cursors, cutOff };
}

describe('pages', () => {
  it('come in their order, the first without a cursor', async () => {
    const list: Record<string, JsonObject> = { undefined: { tools: ['a'], nextCursor: '2' }, 2: { tools: ['b'] } };
    const { names, cursors } = await read((cursor) => list[String(cursor)]!);
    expect([names, cursors]).toEqual([
      ['a', 'b'],
      [undefined, '2'],
    ]);
  });

  it('end with a cursor that is null', async () => {
    expect(await read(() => ({ tools: ['a'], nextCursor: null }))).toMatchObject({
      names: ['a'],
      cursors: [undefined],
    });
  });

  it('pages do not come twice from a server to which the empty cursor means the end', async () => {
    expect((await read(() => ({ tools: ['a'], nextCursor: '' }))).names).toEqual(['a']);
    const more = await read((cursor) => (cursor === '' ? { tools: ['b'] } : { tools: ['a'], nextCursor: '' }));
    expect(more.names).toEqual(['a', 'b']);
  });

  it('end where a cursor leads back, and after a thousand', async () => {
    const circle = await read((cursor) => ({ tools: [cursor === 'x' ? 'b' : 'a'], nextCursor: 'x' }));
    expect(circle).toMatchObject({ names: ['a', 'b'], cutOff: 'circle' });
    const endless = await read((_, page) => ({ tools: [], nextCursor: String(page) }));
    expect([endless.cursors.length, endless.cutOff]).toEqual([1000, 'limit']);
  });
});
