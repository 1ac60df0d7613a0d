import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { authorLineOf, findAuthorFrame, findAuthorLine } from './author-line.ts';

const OWN = `    at BodyRun.ask (${fileURLToPath(new URL('body-run.ts', import.meta.url))}:190:5)`;
const OF_NODE = '    at process.processImmediate (node:internal/timers:483:21)';
const PACKAGE = '    at read (file:///app/node_modules/reader/index.js:3:9)';
const AUTHOR = '    at async book (file:///app/flows/book.ts:12:7)';

describe("the author's line", () => {
  it('is the first that is neither of Parley nor of Node', () => {
    expect(findAuthorFrame([OWN, OF_NODE, AUTHOR, '    at /app/main.ts:1:1'])).toBe(AUTHOR);
    expect(findAuthorLine([OWN, OF_NODE, AUTHOR])).toBe(fileURLToPath('file:///app/flows/book.ts') + ':12:7');
  });

  it('is that of a package only where the author has none', () => {
    expect(findAuthorFrame([PACKAGE, AUTHOR])).toBe(AUTHOR);
    expect(findAuthorFrame([OWN, PACKAGE])).toBe(PACKAGE);
  });

  it('is missing where all frames are of Parley or of Node, or have no line', () => {
    expect(findAuthorLine([OWN, OF_NODE, '    at async Promise.all (index 0)', 'Error: at'])).toBeUndefined();
  });

  it('is the line of this test for an error that it creates', () => {
    expect(authorLineOf(new Error('here'))).toMatch(/author-line\.test\.ts:\d+:\d+$/);
  });
});
