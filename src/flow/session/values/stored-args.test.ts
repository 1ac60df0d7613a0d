import { describe, expect, it } from 'vitest';
import { flow } from '../../define.ts';
import { explore } from '../../explore/explore.ts';
import { toExploredFlows } from '../../explore/exploration.ts';
import { Sessions } from '../sessions.ts';
import { settled } from '../turn/turn.ts';

const load = flow({ name: 'load' }, async (ask, input) => {
  const file = await ask.file('table', { accept: ['.csv'], maxBytes: 150_000 });
  const text = await ask.step('read', async (step) => Buffer.from(await step.bytes(file)).toString());
  return { file, length: text.length, given: Object.keys(input['table'] ?? {}) };
});
const explored = toExploredFlows([{ flow: load, explored: await explore(load) }]);
const me = { principal: 'me', tool: 'load' };
const csv = (name: string, length: number) => ({
  table: { name, mimeType: 'text/csv', data: Buffer.from('x'.repeat(length)).toString('base64') },
});

describe('a file that was given as an argument', () => {
  it('is kept next to the journal, and read like one that was asked for', async () => {
    const sessions = new Sessions([load], { explored });
    const { result } = await settled(await sessions.start({ ...me, args: csv('a.csv', 120_000) }));
    expect(result).toMatchObject({ length: 120_000, file: { name: 'a.csv', size: 120_000 } });
    expect(result).toMatchObject({ given: ['name', 'mimeType', 'size', 'sha256'] });
  });

  it.each([
    ['is of another type', csv('a.txt', 10)],
    ['is too large', csv('a.csv', 160_000)],
    ['names bytes that somebody else has brought', { table: { name: 'a.csv', mimeType: '', size: 1, sha256: 'x' } }],
  ])('is asked for if it %s', async (_, args) => {
    const turn = await settled(await new Sessions([load], { explored }).start({ ...me, args }));
    expect(turn.questions.map(({ key }) => key)).toEqual(['table']);
  });

  it('is asked for where nothing is known of the question', async () => {
    const sessions = new Sessions([load]);
    const turn = await settled(await sessions.start({ ...me, args: csv('a.csv', 10) }));
    expect(turn.questions.map(({ key }) => key)).toEqual(['table']);
  });

  it('is refused if it is larger than any file may be', async () => {
    const sessions = new Sessions([load], { explored, limits: { fileBytes: 1000 } });
    await expect(sessions.start({ ...me, args: csv('a.csv', 2000) })).rejects.toMatchObject({
      code: 'FLOW_VALIDATION_FAILED',
    });
  });
});

describe('an argument that does not fit its question', () => {
  it('is asked for with the reason, until it is answered', async () => {
    const order = flow({ name: 'order' }, async (ask) => {
      const count = await ask.number('count', { message: 'How many?', max: 5, alone: true });
      return [count, await ask.text('name', { alone: true })];
    });
    const sessions = new Sessions([order]);
    const turn = await settled(await sessions.start({ principal: 'me', tool: 'order', args: { count: 9 } }));
    expect(turn.questions).toMatchObject([
      { key: 'count', complaint: { error: expect.stringContaining('at most 5') } },
    ]);
    const session = { principal: 'me', sessionId: turn.header.id };
    const next = await sessions.answer({ ...session, answers: [{ value: 3 }] });
    expect(next.questions).toMatchObject([{ key: 'name', promptId: 'name~1' }]);
    expect(next.questions[0]).not.toHaveProperty('complaint');
  });
});
