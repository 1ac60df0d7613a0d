// The words of forms: each is said once.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { f } from '../authoring/fields.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { toForm } from './client-form.ts';

async function formOf(body: (ask: Ask) => Promise<unknown>) {
  const sessions = new Sessions([flow({ name: 'x' }, body)]);
  const { questions } = await sessions.start({ principal: 'me', tool: 'x' });
  await sessions.close();
  const { message, requestedSchema } = toForm(questions);
  return { message, properties: requestedSchema.properties };
}

describe('the words of a form', () => {
  it('are those of its question, where it has one', async () => {
    const form = await formOf((ask) => ask.confirm('ok', { message: 'Pay?' }));
    expect(form).toEqual({ message: 'Pay?', properties: { ok: { type: 'boolean' } } });
  });

  it('are the titles of fields, where it has several', async () => {
    const { properties } = await formOf((ask) =>
      Promise.all([
        ask.text('city', { message: 'Where to?' }),
        ask.text('name', { message: 'Who goes?', help: 'As in the passport.' }),
        ask.text('note', { message: 'Anything else?', label: 'Note' }),
      ]),
    );
    expect(properties).toEqual({
      city: { type: 'string', title: 'Where to?' },
      name: { type: 'string', title: 'Who goes?', description: 'As in the passport.' },
      note: { type: 'string', title: 'Note', description: 'Anything else?' },
    });
  });

  it('name a question of a loop or a scope as its author does, where a client would show its key', async () => {
    const looped = await formOf(async (ask) => {
      const actions = [
        ask.text('action', { required: false, default: 'a' }),
        ask.text('action', { message: 'Next?', alone: true }),
      ];
      return Promise.all(actions);
    });
    expect(looped.properties).toMatchObject({ 'action#2': { type: 'string', title: 'Action' } });
    const scoped = await formOf((ask) => ask.scope('pears').number('boxCount'));
    expect(scoped).toMatchObject({
      message: 'Box count (pears)',
      properties: { 'pears.boxCount': { title: 'Box count (pears)' } },
    });
  });

  it('tell the fields of a form apart', async () => {
    const { properties } = await formOf((ask) => ask.form('who', { name: f.text({ message: 'What is your name?' }) }));
    expect(properties).toEqual({ name: { type: 'string', description: 'What is your name?' } });
  });
});
