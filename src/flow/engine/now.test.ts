import { expect, it } from 'vitest';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { createLog } from '../../kernel/base/log.ts';

it('ask.now() does not go back with the clock of the machine', async () => {
  let time = 1_790_000_000_000;
  const clock = { now: () => time, after: () => () => {} };
  const tool = flow({ name: 'x' }, async (ask) => {
    const times = [ask.now()];
    for (const key of ['a', 'b'] as const) {
      await ask.text(key);
      times.push(ask.now(), Date.now());
    }
    return times;
  });
  const sessions = new Sessions([tool], { clock, store: memoryStore({ clock }), log: createLog({ level: 'silent' }) });
  const { header } = await sessions.start({ principal: 'me', tool: 'x' });
  const answer = async () =>
    settled(await sessions.answer({ principal: 'me', sessionId: header.id, answers: [{ value: '1' }] }));
  time += 60_000;
  await answer();
  time -= 30_000;
  const { result } = await answer();
  expect(result).toEqual([0, 60_000, 60_000, 60_000, 60_000].map((ms) => 1_790_000_000_000 + ms));
  await sessions.close();
});
