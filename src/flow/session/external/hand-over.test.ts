// Approvals that are handed over: only to people whom the flow names, and only for the question as it was asked.
import { expect, it } from 'vitest';
import type { Ask } from '../../authoring/ask.ts';
import { flow } from '../../define.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { Sessions } from '../sessions.ts';

const log = createLog({ level: 'silent' });

/** Ada claims a sum, somebody approves it, and she is asked a last question. */
async function claim(body: (ask: Ask) => Promise<unknown>) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const served = (work = body) =>
    new Sessions([flow({ name: 'claim', version: work === body ? '1' : '2' }, work)], {
      clock,
      store,
      log,
      keys: ['one for both versions'],
    });
  const sessions = served();
  const { header } = await sessions.start({ principal: 'ada', tool: 'claim', args: { sum: 10 } });
  const sessionId = header.id;
  const open = async () =>
    ((await store.load(sessionId))!.header.current as { promptId: string; person?: { principal: string } }[]).map(
      ({ promptId, person }) => `${promptId} ${person?.principal ?? 'ada'}`,
    );
  return {
    open,
    served,
    sessions,
    sessionId,
    answer: (principal: string, promptId: string, value: unknown, by = sessions) =>
      by.answer({ principal, sessionId, answers: [{ promptId, value }] }),
    handOver: (principal: string, promptId: string, to: string) =>
      sessions.handOver({ principal, sessionId, promptId, to }),
    edit: (value: number) => sessions.edit({ principal: 'ada', sessionId, key: 'sum', value }),
  };
}

const approval =
  (handOver?: string[], message = 'Pay') =>
  async (ask: Ask) => {
    const sum = await ask.number('sum');
    const boss = ask.person(sum > 1000 ? 'cfo' : 'boss', handOver ? { handOver } : {});
    const ok = await boss.confirm('ok', { message: `${message} ${sum}?` });
    return { sum, ok, note: await ask.text('note') };
  };

it.each([
  ['nobody is named', undefined, ['ada', 'eve', 'deputy', 'boss']],
  ['the deputy is named', ['deputy'], ['ada', 'eve', 'boss', 'Deputy', 'deputy ']],
])('a question cannot be handed to people whom the flow does not name: %s', async (_, named, others) => {
  const { handOver, open } = await claim(approval(named));
  for (const to of others) {
    await expect(handOver('boss', 'ok~1', to), to).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
  }
  expect(await open()).toEqual(['ok~1 boss']);
});

it('a deputy hands a question on only within the names of the flow', async () => {
  const { handOver, open } = await claim(approval(['deputy', 'cfo']));
  await handOver('boss', 'ok~1', 'deputy');
  await expect(handOver('deputy', 'ok~1', 'ada')).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
  await handOver('deputy', 'ok~1', 'cfo');
  expect(await open()).toEqual(['ok~1 cfo']);
});

it('the caller is handed a question only if the flow names the caller', async () => {
  const { handOver, answer } = await claim(approval(['ada']));
  await handOver('boss', 'ok~1', 'ada');
  expect((await answer('ada', 'ok~1', true)).accepted).toBe(true);
});

it('after an edit the person whom the flow names is asked, though a delegate had answered before', async () => {
  const { handOver, answer, edit, open } = await claim(approval(['ada']));
  await handOver('boss', 'ok~1', 'ada');
  await answer('ada', 'ok~1', true);
  await edit(500);
  expect(await open()).toEqual(['ok~2 boss']);
  await expect(answer('ada', 'ok~2', true)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
  await edit(5000);
  expect(await open()).toEqual(['ok~3 cfo']);
  await answer('cfo', 'ok~3', false);
  expect((await answer('ada', 'note~2', 'x')).result).toEqual({ sum: 5000, ok: false, note: 'x' });
});

it('a delegate’s answer that an edit does not touch stays', async () => {
  const { handOver, answer, edit, open } = await claim(async (ask) => {
    const sum = await ask.number('sum');
    const account = await ask.person('boss', { handOver: ['deputy'] }).text('ok', { message: 'Which account?' });
    return { sum, account, note: await ask.text('note') };
  });
  await handOver('boss', 'ok~1', 'deputy');
  await answer('deputy', 'ok~1', 'travel');
  await edit(500);
  expect(await open()).toEqual(['note~2 ada']);
  expect((await answer('ada', 'note~2', 'x')).result).toEqual({ sum: 500, account: 'travel', note: 'x' });
});

it('a version that asks in other words asks the person whom it names, and not the delegate', async () => {
  const { handOver, answer, served, open } = await claim(approval(['deputy']));
  await handOver('boss', 'ok~1', 'deputy');
  await answer('deputy', 'ok~1', true);
  const later = served(approval(['deputy'], 'Really pay'));
  await answer('ada', 'note~1', 'x', later);
  expect(await open()).toEqual(['ok~2 boss']);
});
