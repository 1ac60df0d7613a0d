// Changed secrets and files: the new value is stored like the first one, and a reference from a client is never trusted.
import { describe, expect, it } from 'vitest';
import { flow } from '../../define.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { Sessions } from '../sessions.ts';
import { settled } from '../turn/turn.ts';

const me = { principal: 'me' };
const log = createLog({ level: 'silent' });
const file = (text: string) => ({ name: 'a', mimeType: 'text/plain', data: Buffer.from(text).toString('base64') });

const tool = flow({ name: 'x' }, async (ask) => {
  const secret = await ask.text('secret', { secret: true, min: 4, alone: true });
  const table = await ask.file('table', { maxBytes: 3, alone: true });
  await ask.text('after');
  return ask.step('read', async (step) => [await step.reveal(secret), Buffer.from(await step.bytes(table)).toString()]);
});

async function begun() {
  const store = memoryStore();
  const sessions = new Sessions([tool], { store, log });
  const session = { ...me, sessionId: (await sessions.start({ ...me, tool: 'x' })).header.id };
  const answer = async (value: unknown) => settled(await sessions.answer({ ...session, answers: [{ value }] }));
  await answer('first-secret');
  await answer(file('abc'));
  const edit = (key: string, value: unknown) => sessions.edit({ ...session, key, value });
  const written = async () => JSON.stringify(await store.load(session.sessionId));
  return { edit, answer, written };
}

describe('a changed answer', () => {
  it('that is secret enters the journal as little as the first', async () => {
    const { edit, answer, written } = await begun();
    await edit('secret', 'second-secret');
    expect(await written()).not.toContain('second-secret');
    expect((await answer('x')).result).toEqual(['second-secret', 'abc']);
  });

  it('that is a file is kept next to the journal', async () => {
    const { edit, answer, written } = await begun();
    await edit('table', file('xyz'));
    expect(await written()).not.toContain(file('xyz').data);
    expect((await answer('x')).result).toEqual(['first-secret', 'xyz']);
  });

  it.each<[string, string, unknown]>([
    ['a secret that is too short', 'secret', 'abc'],
    ['a reference to a secret', 'secret', { $secret: 'x' }],
    ['a file that is too large', 'table', file('abcd')],
    ['the name of bytes that lie here already', 'table', { name: 'a', mimeType: 'text/plain', size: 3, sha256: 'x' }],
  ])('is refused if it is %s', async (_, key, value) => {
    const { edit, answer, written } = await begun();
    const before = await written();
    expect(await edit(key, value)).toMatchObject({ accepted: false, verdicts: { [key]: { valid: false } } });
    expect(await written()).toBe(before);
    expect((await answer('x')).result).toEqual(['first-secret', 'abc']);
  });
});
