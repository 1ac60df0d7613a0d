import { describe, expect, it } from 'vitest';
import { flow } from '../define.ts';
import { explore } from '../explore/explore.ts';
import { toExploredFlows } from '../explore/exploration.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { createSignedTokens } from './signed-tokens.ts';
import { createTokens } from './tokens.ts';
import type { TokenOptions, Tokens } from './tokens.ts';
import { TokenSessions } from './token-sessions.ts';

const bearer = { principal: 'me', tool: 'book', method: 'tools/call', args: {} };
const sink = new Map<string, number>();

const book = flow({ name: 'book', description: 'Book a trip' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  const [cls, bag] = await Promise.all([
    ask.choice('cls', ['economy', 'business'], { message: `How to ${city}?` }),
    ask.confirm('bag', { message: 'A bag?' }),
  ]);
  const lucky = ask.random();
  const quote = await ask.step('quote', async () => ({ price: city.length * 10 }));
  if (!(await ask.confirm('ok', { message: `Pay ${quote.price}?` }))) return { booked: false };
  await ask.step('book', async ({ idempotencyKey }) => void sink.set(idempotencyKey, quote.price), { effect: 'retry' });
  return { booked: true, city, cls, bag, lucky };
});

const FORMS: Record<string, (options?: Partial<TokenOptions>) => Tokens> = {
  sealed: (options) => createTokens({ keys: ['a key of this test'], ...options }),
  signed: (options) => createSignedTokens({ keys: ['a key of this test'], ...options }),
};

describe.each(Object.entries(FORMS))('sessions in %s tokens', (_, make) => {
  /** Another process that has nothing but the keys. */
  const elsewhere = (options?: Partial<TokenOptions>) => new TokenSessions([book], { tokens: make(options) });
  const answer = async (token: string, values: Record<string, unknown>, place = elsewhere()) => {
    const answers = Object.entries(values).map(([promptId, value]) => ({ promptId, value }));
    return place.go(token, bearer, ({ id }, sessions) => sessions.answer({ principal: 'me', sessionId: id, answers }));
  };
  const begun = (place = elsewhere()) => place.start({ principal: 'me', tool: 'book' }, bearer);

  it('continue in another process after every turn', async () => {
    const first = await begun();
    const second = await answer(first.token!, { 'city~1': 'Paris' });
    expect(second.turn.questions.map(({ prompt }) => prompt.message)).toEqual(['How to Paris?', 'A bag?']);
    const third = await answer(second.token!, { 'cls~1': 'economy', 'bag~1': true });
    expect(third.turn.questions[0]!.prompt.message).toBe('Pay 50?');
    const last = await answer(third.token!, { 'ok~1': true });
    expect(last.turn).toMatchObject({
      header: { state: 'completed' },
      result: { booked: true, city: 'Paris', bag: true },
    });
    expect(last.token).toBeUndefined();
  });

  it('know the questions that were put ahead', async () => {
    const ask3 = flow({ name: 'book', description: 'Three that hang on nothing' }, async (ask) => [
      await ask.text('a', { message: 'a?' }),
      await ask.text('b', { message: 'b?', ahead: true }),
      await ask.text('c', { message: 'c?', ahead: true }),
    ]);
    const explored = toExploredFlows([{ flow: ask3, explored: await explore(ask3) }]);
    const place = new TokenSessions([ask3], { tokens: make(), explored });
    const { turn, token } = await begun(place);
    expect(turn.questions.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    const last = await answer(token!, { 'a~1': 'x', 'b~1': 'y', 'c~1': 'z' }, place);
    expect(last.turn.result).toEqual(['x', 'y', 'z']);
  });

  it('keep what is wrong with an answer, and count it', async () => {
    const first = await begun();
    const refused = await answer(first.token!, { 'city~1': 'P' });
    expect(refused.turn).toMatchObject({ accepted: false, questions: [{ promptId: 'city~2' }] });
    const second = await answer(refused.token!, { 'city~2': 'Paris' });
    expect(second.turn.accepted).toBe(true);
  });

  it('show their state to their owner, as often as wanted', async () => {
    const { token } = await answer((await begun()).token!, { 'city~1': 'Paris' });
    const counting = { store: memoryStore() };
    for (let times = 0; times < 2; times++) {
      const view = await elsewhere(counting).getState(token!, bearer);
      expect(view).toMatchObject({ header: { state: 'waiting_user' }, data: { city: 'Paris' } });
      expect(view.questions).toHaveLength(2);
    }
    await expect(elsewhere().getState(token!, { ...bearer, principal: 'other' })).rejects.toMatchObject({
      code: 'FLOW_SESSION_NOT_FOUND',
    });
  });

  it('fork into the same effect when a token is shown twice', async () => {
    sink.clear();
    const { token } = await answer((await begun()).token!, { 'city~1': 'Paris' });
    const paid = await answer(token!, { 'cls~1': 'economy', 'bag~1': true });
    const ends = [await answer(paid.token!, { 'ok~1': true }), await answer(paid.token!, { 'ok~1': true })];
    const [one, two] = ends.map(({ turn }) => turn.result as { lucky: number });
    expect(one).toEqual(two);
    expect(sink.size).toBe(1);
  });

  it('do not fork where a store counts the turns', async () => {
    const place = elsewhere({ store: memoryStore() });
    const { token } = await begun(place);
    await answer(token!, { 'city~1': 'Paris' }, place);
    await expect(answer(token!, { 'city~1': 'Rome' }, place)).rejects.toMatchObject({
      code: 'FLOW_INVALID_TRANSITION',
    });
  });

  it('say no more of a forged token than that there is no such session', async () => {
    const { token } = await begun();
    await expect(answer(`${token!}x`, {})).rejects.toMatchObject({ code: 'FLOW_SESSION_NOT_FOUND' });
  });
});
