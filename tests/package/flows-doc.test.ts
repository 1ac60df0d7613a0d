// The code that docs/flows.md shows is the code of the example, which is run by its check.
import { expect, it } from 'vitest';
import { describeWaiting } from '../../src/flow/channel/report-progress.ts';
import type { QuestionRound } from '../../src/people/question-round.ts';
import { toQuestionText } from '../../src/people/question-text.ts';
import { read } from '../helpers/files.ts';

const BLOCK = /<!-- file: (.+?) -->\n```js\n([\s\S]*?)```/g;
const blocks = [...read('docs/flows.md').matchAll(BLOCK)].map(([, file, text]) => ({ file: file!, text: text! }));

it('docs/flows.md shows the first flow in ten lines, its server, and one whose steps call tools', () => {
  expect(blocks.map(({ file }) => file)).toEqual([
    'examples/flow/trip.mjs',
    'examples/flow/server.mjs',
    'examples/flow-on-gateway/book.mjs',
    'examples/flow-on-gateway/gateway.mjs',
  ]);
  expect(blocks[0]!.text.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
});

it.each(blocks)('docs/flows.md shows $file unchanged', ({ file, text }) => expect(text).toBe(read(file)));

it('docs/flows.md shows what a model reads while another person is asked', () => {
  const [, shown] = /^```text\n(The tool release [\s\S]*?)\n```/m.exec(read('docs/flows.md'))!;
  const [, handle] = /"handle":"(ask_[\w-]+)"/.exec(shown!)!;
  const round = { handle: handle!, about: { tool: 'release' }, waitsFor: describeWaiting(['ops-lead']), questions: [] };
  const ways = { link: undefined, hasRelay: true, hasChanges: false };
  expect(toQuestionText({ ...round, expiresAt: 0 } as unknown as QuestionRound, ways)).toMatchObject({
    content: [{ text: shown }],
  });
});
