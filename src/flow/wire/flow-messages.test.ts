import { expect, it } from 'vitest';
import { flow } from '../define.ts';
import type { Question } from '../question/question.ts';
import { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';
import { f } from '../authoring/fields.ts';
import { toPrompt } from './flow-messages.ts';

it('a prompt has the notes of the caller above its question, but not for another person', async () => {
  const body = flow({ name: 'x' }, async (ask) => {
    ask.note('Two things.');
    await Promise.all([
      ask.text('city', { message: 'Where to?' }),
      ask.person('lead').confirm('ok', { message: 'OK?' }),
    ]);
  });
  const sessions = new Sessions([body], { notify: () => {} });
  const { header } = await settled(await sessions.start({ principal: 'me', tool: 'x' }));
  await sessions.close();
  const prompts = (header.current as Question[]).map((question) => [question.key, toPrompt(question)['message']]);
  expect(Object.fromEntries(prompts)).toEqual({ city: 'Two things.\nWhere to?', ok: 'OK?' });
});

it('the prompt of a form has the schema of its fields', async () => {
  const body = flow({ name: 'x' }, (ask) =>
    ask.form('who', { name: f.text({ label: 'Name' }), age: f.number({ required: false }) }, { message: 'Who?' }),
  );
  const sessions = new Sessions([body]);
  const { questions } = await settled(await sessions.start({ principal: 'me', tool: 'x' }));
  await sessions.close();
  expect(toPrompt(questions[0]!)).toMatchObject({
    type: 'custom',
    message: 'Who?',
    schema: {
      type: 'object',
      properties: { name: { type: 'string', title: 'Name' }, age: { type: 'number' } },
      required: ['name'],
    },
  });
});
