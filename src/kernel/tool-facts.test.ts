import { describe, expect, it } from 'vitest';
import { ToolFacts } from './tool-facts.ts';

const schema = { type: 'object' };
const tool = (name: string, taskSupport?: string) => ({ name, inputSchema: schema, execution: { taskSupport } });

describe('the facts about tools', () => {
  it('the facts hold what a list said', () => {
    const book = new ToolFacts();
    expect(book.misses('a')).toBe(true);
    book.learn({ tools: [tool('a', 'required'), tool('b', 'odd'), { name: 'c' }, 'nonsense'] }, true);
    expect(book.get('a')?.inputSchema).toBe(schema);
    expect(['a', 'b', 'c', 'd'].map((name) => book.get(name)?.taskSupport)).toEqual([
      'required',
      undefined,
      undefined,
      undefined,
    ]);
    expect(book.get('c')?.inputSchema).toBeUndefined();
    expect(book.misses('d')).toBe(false); // the list was whole: there is no such tool
  });

  it('pages are joined, and missing tools are forgotten', () => {
    const book = new ToolFacts();
    book.learn({ tools: [tool('a')], nextCursor: '2' }, true);
    expect([book.misses('a'), book.misses('b')]).toEqual([false, true]);
    book.learn({ tools: [tool('b')] }, false);
    expect(book.get('a')?.inputSchema).toBe(schema);
    book.learn({ tools: [tool('b')] }, true);
    expect(book.get('a')?.inputSchema).toBeUndefined();
    book.outdate();
    expect([book.misses('b'), book.misses('new')]).toEqual([false, true]);
    book.learn({ nonsense: true }, true);
    expect(book.get('b')?.inputSchema).toBe(schema);
  });
});
