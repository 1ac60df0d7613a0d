import { expect, it } from 'vitest';
import { f } from '../authoring/fields.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';

const me = { principal: 'me' };
const fields = { from: f.date(), to: f.date() };
const stay = flow({ name: 'stay' }, async (ask) => {
  const days = await ask.form('days', fields, {
    required: false,
    validate: ({ from, to }) => (to < from ? 'Must not end before it begins' : undefined),
  });
  return days?.to ?? 'no days';
});

it('checks a form as a whole by the rule of its author, once its fields are right', async () => {
  const sessions = new Sessions([stay]);
  const { header } = await sessions.start({ ...me, tool: 'stay' });
  const answer = async (from: string, to: string) =>
    settled(await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: { from, to } }] }));
  const wrong = await answer('2026-11-20', '2026-11-18');
  expect(wrong.questions).toMatchObject([{ key: 'days', complaint: { error: 'Must not end before it begins' } }]);
  expect((await answer('2026-11-20', '2026-11-22')).result).toBe('2026-11-22');
});

it('gives nothing for a form that may be left out and is declined', async () => {
  const sessions = new Sessions([stay]);
  const { header } = await sessions.start({ ...me, tool: 'stay' });
  const { result } = await settled(
    await sessions.answer({ ...me, sessionId: header.id, answers: [{ no: 'declined' }] }),
  );
  expect(result).toBe('no days');
});
