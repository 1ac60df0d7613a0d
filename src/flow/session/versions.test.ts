// A new version of a function under sessions that are open.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { msg } from '../question/question.ts';
import { flow } from '../define.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { until } from '../../../tests/helpers/until.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';
import type { FlowOptions } from '../define.ts';

const me = { principal: 'me' };
const log = createLog({ level: 'silent' });
type Body = (ask: Ask) => Promise<unknown>;

async function begun(body: Body, answers: unknown[], options: Partial<FlowOptions> = {}) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const deploy = (next: Body, more: Partial<FlowOptions> = options) =>
    new Sessions([flow({ name: 'x', ...more }, next)], { store, clock, log });
  const first = deploy(body);
  const { header } = await first.start({ ...me, tool: 'x', locale: 'en' });
  const session = { ...me, sessionId: header.id };
  const answer = async (sessions: Sessions, value: unknown) =>
    settled(await sessions.answer({ ...session, answers: [{ value }] }));
  for (const value of answers) await answer(first, value);
  return { deploy, answer, session, clock };
}

describe('an open session under a new version', () => {
  it('is asked what is new, and not what it has answered', async () => {
    const { deploy, answer } = await begun(
      async (ask) => [await ask.text('a'), await ask.text('b'), await ask.text('c')],
      ['1'],
    );
    const next = deploy(async (ask) => [
      await ask.text('new'),
      await ask.text('a', { message: 'reworded' }),
      await ask.text('b'),
    ]);
    expect((await answer(next, '2')).questions.map(({ key }) => key)).toEqual(['new']);
    expect((await answer(next, '0')).result).toEqual(['0', '1', '2']);
  });

  it('is not bothered by questions that are gone', async () => {
    const { deploy, answer } = await begun(async (ask) => [await ask.text('a'), await ask.text('b')], ['1']);
    const next = deploy(async (ask) => [await ask.text('b'), await ask.text('c')]);
    expect((await answer(next, '2')).questions.map(({ key }) => key)).toEqual(['c']);
  });

  it('is asked again when its answer is no longer valid', async () => {
    const { deploy, answer } = await begun(async (ask) => [await ask.text('a'), await ask.text('b')], ['x']);
    const stricter = deploy(async (ask) => [await ask.text('a', { min: 2 }), await ask.text('b')]);
    const turn = await answer(stricter, '2');
    expect(turn.questions.map(({ promptId }) => promptId)).toEqual(['a~2']);
    expect((await answer(stricter, 'xx')).result).toEqual(['xx', '2']);
    const { deploy: again, answer: reply } = await begun(
      async (ask) => [await ask.text('a'), await ask.text('b')],
      ['x'],
    );
    const other = again(async (ask) => [await ask.number('a'), await ask.text('b')]);
    expect((await reply(other, '2')).questions).toMatchObject([{ key: 'a', kind: 'number' }]);
  });

  it('asks for consent again when its words are others, and only then', async () => {
    const pay = (price: number, label: string) => async (ask: Ask) => {
      const ok = await ask.confirm('ok', { message: `Pay ${price}?`, label });
      return [ok, await ask.text('why')];
    };
    const { deploy, answer } = await begun(pay(10, 'Pay'), [true]);
    const dearer = deploy(pay(1000, 'Pay'));
    expect((await answer(dearer, 'because')).questions).toMatchObject([
      { promptId: 'ok~2', prompt: { message: 'Pay 1000?' } },
    ]);
    expect((await answer(dearer, false)).result).toEqual([false, 'because']);
    const { deploy: again, answer: reply } = await begun(pay(10, 'Pay'), [true]);
    expect((await reply(again(pay(10, 'Other label')), 'because')).result).toEqual([true, 'because']);
  });

  it('keeps consent that was given in another language', async () => {
    const body = async (ask: Ask) => [
      await ask.confirm('ok', { message: msg('pay', { price: 10 }) }),
      await ask.text('b'),
    ];
    const { deploy, answer } = await begun(body, [true], { messages: { en: { pay: 'Pay {price}?' } } });
    const next = deploy(body, { messages: { en: { pay: 'Shall we pay {price}?' } } });
    expect((await answer(next, 'x')).result).toEqual([true, 'x']);
  });

  it('takes the old way through a marked patch if it had passed it, a new one the new way', async () => {
    const old: Body = async (ask) => [await ask.text('a'), await ask.text('b'), await ask.text('c')];
    const patched: Body = async (ask) => {
      const a = await ask.text('a');
      const extra = ask.version('asks-extra') ? await ask.text('extra') : 'none';
      return [a, extra, await ask.text('b'), await ask.text('c')];
    };
    const { deploy, answer, session } = await begun(old, ['1', '2']);
    const next = deploy(patched);
    expect((await answer(next, '3')).result).toEqual(['1', 'none', '2', '3']);
    const fresh = await next.start({ ...me, tool: 'x', args: { a: '1' } });
    expect(fresh.questions.map(({ key }) => key)).toEqual(['extra']);
    const turn = await next.answer({ ...session, sessionId: fresh.header.id, answers: [{ value: 'e' }] });
    expect(turn.questions.map(({ key }) => key)).toEqual(['b']);
  });

  describe('in which a step has become a question, or a question a step', () => {
    const was: Body = async (ask) => {
      await ask.text('a');
      await ask.step('k', () => 'done', { effect: 'retry' });
      return [await ask.text('b'), await ask.text('c')];
    };
    const changes: Record<string, Body> = {
      'k is asked': async (ask) => [await ask.text('a'), await ask.text('k'), await ask.text('b')],
      'a is done': async (ask) => [await ask.step('a', () => 'a'), await ask.text('b')],
    };

    it.each(Object.entries(changes))('refuses, and stays as it is for a version that knows it: %s', async (_, body) => {
      const { deploy, answer, session } = await begun(was, ['1']);
      const [changed, old] = [deploy(body), deploy(was)];
      const { header, ...before } = await old.getState(session);
      await expect(answer(changed, '2')).rejects.toMatchObject({ code: 'FLOW_CHANGED' });
      const after = await old.getState(session);
      expect(after).toMatchObject({ ...before, header: { state: header.state, prompts: header.prompts } });
      expect(after.header.parked?.reason).toMatch(/has changed under an open session/);
      expect((await answer(old, '2')).questions.map(({ key }) => key)).toEqual(['c']);
    });

    it('asks again if the author says so', async () => {
      const { deploy, answer } = await begun(was, ['1']);
      const next = deploy(changes['k is asked']!, { onMismatch: 'reask' });
      expect((await answer(next, '2')).questions.map(({ key }) => key)).toEqual(['k']);
      expect((await answer(next, 'x')).result).toEqual(['1', 'x', '2']);
    });

    it('is still cancelled', async () => {
      const { deploy, session } = await begun(was, ['1']);
      expect((await deploy(changes['k is asked']!).cancel(session)).header.state).toBe('cancelled');
    });
  });
});

describe('an effect that a new version does not ask for', () => {
  function bank() {
    const charged: string[] = [];
    const charge =
      (key: string): Body =>
      async (ask) => {
        await ask.text('a');
        await ask.step(key as 'charge', (step) => void charged.push(step.idempotencyKey), {
          effect: 'retry',
          undo: refund,
        });
        return [await ask.text('b'), await ask.text('c')];
      };
    const refunded: string[] = [];
    const refund = (_: unknown, step: { idempotencyKey: string }) => void refunded.push(step.idempotencyKey);
    return { charged, refunded, charge };
  }

  it('is not done again under another name: the turn is refused, and the error names both', async () => {
    const { charge, charged } = bank();
    const { deploy, answer, session } = await begun(charge('charge'), ['1']);
    const renamed = deploy(charge('charge-card'));
    await expect(answer(renamed, '2')).rejects.toMatchObject({
      code: 'FLOW_CHANGED',
      message: expect.stringMatching(
        /the effect charge has begun.*charge-card would be done instead.*renamed: \{ 'charge': 'charge-card' \}/,
      ),
    });
    expect(charged).toHaveLength(1);
    const parked = await renamed.getState(session);
    expect(parked.header).toMatchObject({ state: 'waiting_user', parked: { reason: expect.any(String) } });
    const fixed = deploy(charge('charge-card'), { migrate: { renamed: { charge: 'charge-card' } } });
    expect((await answer(fixed, '2')).questions.map(({ key }) => key)).toEqual(['c']);
    expect((await fixed.getState(session)).header.parked).toBeUndefined();
    expect((await answer(fixed, '3')).result).toEqual(['2', '3']);
    expect(charged).toHaveLength(1);
  });

  it.each<[string, Body]>([
    ['it goes on to what came after', async (ask) => [await ask.text('a'), await ask.text('b'), await ask.text('c')]],
    ['it comes to its end', async (ask) => [await ask.text('a')]],
  ])('is not forgotten where %s', async (_, body) => {
    const { charge } = bank();
    const { deploy, answer } = await begun(charge('charge'), ['1']);
    await expect(answer(deploy(body), '2')).rejects.toMatchObject({ code: 'FLOW_CHANGED' });
    const dropped = deploy(body, { migrate: { dropped: ['charge'] } });
    expect((await answer(dropped, '2')).header.state).toMatch(/waiting_user|completed/);
  });

  it('may come later: a new question before it is asked', async () => {
    const { charge, charged } = bank();
    const { deploy, answer } = await begun(charge('charge'), ['1']);
    const next = deploy(async (ask) => {
      await ask.text('a');
      await ask.text('new');
      await ask.step('charge', () => void charged.push('again'), { effect: 'retry' });
      return ask.text('b');
    });
    expect((await answer(next, '2')).questions.map(({ key }) => key)).toEqual(['new']);
    // A third version finds what was asked early, and is not misled by it.
    const third: Body = async (ask) => {
      await ask.text('a');
      await ask.text('new');
      await ask.text('newer');
      await ask.step('charge', () => void charged.push('again'), { effect: 'retry' });
      return ask.text('b');
    };
    expect((await answer(deploy(third), 'x')).questions.map(({ key }) => key)).toEqual(['newer']);
    expect(
      (
        await answer(
          deploy((ask) => third(ask)),
          'y',
        )
      ).result,
    ).toBe('2');
    expect(charged).toHaveLength(1);
  });

  it('is undone with the key it was done with, once a version tells how', async () => {
    const { charge, charged, refunded } = bank();
    const { deploy, session, clock } = await begun(charge('charge'), ['1']);
    const changed = deploy(async (ask) => [await ask.text('a'), await ask.text('b')]);
    expect((await changed.cancel(session)).header.state).toBe('cancelled');
    expect(refunded).toEqual([]);
    await changed.close();
    const fixed = deploy(charge('pay'), { migrate: { renamed: { charge: 'pay' } } });
    await until('it to be undone', async () => {
      clock.move(60_001);
      await fixed.sweep();
      return refunded.length > 0;
    });
    expect(refunded).toEqual(charged);
  });
});

describe('a new version that throws', () => {
  it('does not end sessions of the one before: they are kept for a third', async () => {
    const was: Body = async (ask) => [await ask.text('a'), await ask.text('b'), await ask.text('c')];
    const { deploy, answer, session } = await begun(was, ['1']);
    const broken = deploy(async (ask) => {
      const a = await ask.text('a');
      await ask.text('b');
      return (a as unknown as { missing: { at: string } }).missing.at;
    });
    await expect(answer(broken, '2')).rejects.toMatchObject({
      code: 'FLOW_CHANGED',
      message: expect.stringMatching(/TypeError/),
    });
    expect((await broken.getState(session)).header.state).toBe('waiting_user');
    expect((await answer(deploy(was), '2')).questions.map(({ key }) => key)).toEqual(['c']);
  });

  it('ends a session with an error of its own, which is meant for the user', async () => {
    const { deploy, answer } = await begun(async (ask) => [await ask.text('a'), await ask.text('b')], ['1']);
    const next = deploy(async (ask) => {
      await ask.text('a');
      await ask.text('b');
      throw new Error('No funds');
    });
    expect((await answer(next, '2')).failure).toMatchObject({ message: 'No funds' });
  });

  it('is waited for longer than a session would wait for its user', async () => {
    const was: Body = async (ask) => [await ask.text('a'), await ask.text('b')];
    const { deploy, answer, session, clock } = await begun(was, ['1']);
    const broken = deploy(() => Promise.reject(new Error('not loaded')));
    await expect(answer(broken, '2')).rejects.toMatchObject({ code: 'FLOW_CHANGED' });
    clock.move(3 * 24 * 3_600_000);
    await broken.sweep();
    expect((await broken.getState(session)).header.state).toBe('waiting_user');
    expect((await answer(deploy(was), '2')).result).toEqual(['1', '2']);
  });

  it('expires a week after it was parked, however often it is tried meanwhile', async () => {
    const { deploy, answer, session, clock } = await begun(
      async (ask) => [await ask.text('a'), await ask.text('b')],
      ['1'],
    );
    const broken = deploy(async (ask) => [await ask.step('a', () => 1), await ask.text('b')]);
    const day = 24 * 3_600_000;
    await expect(answer(broken, '2')).rejects.toThrow('a was a question');
    const { parked } = (await broken.getState(session)).header;
    clock.move(6 * day);
    await expect(answer(broken, '2')).rejects.toThrow('a was a question');
    expect((await broken.getState(session)).header.parked).toEqual(parked);
    clock.move(2 * day);
    await expect(broken.getState(session)).rejects.toThrow('Session expired');
  });
});
