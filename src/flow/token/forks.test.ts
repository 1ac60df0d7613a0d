// Tokens that are sent again: what they can do twice, and what they cannot.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import type { FlowOptions } from '../define.ts';
import type { FlowStore } from '../store/store.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { createLog } from '../../kernel/base/log.ts';
import { createSignedTokens } from './signed-tokens.ts';
import { createTokens } from './tokens.ts';
import type { TokenOptions, Tokens } from './tokens.ts';
import { TokenSessions } from './token-sessions.ts';

const me = { principal: 'me' };
const bearer = { ...me, tool: 'pay', method: 'tools/call', args: {} };
const log = createLog({ level: 'silent' });
const FORMS: Record<string, (options?: Partial<TokenOptions>) => Tokens> = {
  sealed: (options) => createTokens({ keys: ['a key of this test'], ...options }),
  signed: (options) => createSignedTokens({ keys: ['a key of this test'], ...options }),
};

interface Paying {
  effect: 'retry' | 'once';
  check?: () => string | undefined;
  tokens: Tokens;
  shared?: FlowStore;
  limits?: FlowOptions['limits'];
}

function paying({ effect, check, tokens, shared, limits = {} }: Paying) {
  const paid: string[] = [];
  const body = async (ask: Ask) => {
    const amount = await ask.text('amount', { min: 2, alone: true });
    const sure = await ask.confirm('sure', { alone: true, message: `Pay ${amount}?` });
    if (!sure) await ask.text('why', { alone: true });
    return ask.step('pay', () => (paid.push(amount), amount), { effect, ...(check && { check }) });
  };
  const tokenSessions = new TokenSessions([flow({ name: 'pay', limits }, body)], {
    tokens,
    shared,
    log,
  });
  const answer = (token: string, value: unknown) =>
    tokenSessions.go(token, bearer, ({ id }, sessions) =>
      sessions.answer({ ...me, sessionId: id, answers: [{ value }] }),
    );
  const begin = async () => (await tokenSessions.start({ ...me, tool: 'pay' }, bearer)).token!;
  return { paid, answer, begin };
}

describe.each(Object.entries(FORMS))('a %s token', (_, make) => {
  describe('whose turns are counted', () => {
    it('can be shown again after a refusal', async () => {
      const { answer, begin } = paying({ effect: 'retry', tokens: make({ store: memoryStore() }) });
      const token = await begin();
      await expect(answer(token, 'x'.repeat(200_000))).rejects.toMatchObject({ code: 'FLOW_VALIDATION_FAILED' });
      expect((await answer(token, '10')).turn.accepted).toBe(true);
    });

    it('is refused before anything happens, of two at once', async () => {
      const { paid, answer, begin } = paying({ effect: 'retry', tokens: make({ store: memoryStore() }) });
      const { token } = await answer(await begin(), '10');
      const both = await Promise.allSettled([answer(token!, true), answer(token!, true)]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(paid).toEqual(['10']);
    });
  });

  describe('of a flow with an effect that must happen once', () => {
    it('cannot be forked into a second time', async () => {
      const { paid, answer, begin } = paying({ effect: 'once', tokens: make(), shared: memoryStore() });
      const first = await begin();
      const { token } = await answer(first, '10');
      expect((await answer(token!, true)).turn.result).toBe('10');
      const unknown = { turn: { failure: { name: 'FLOW_EFFECT_UNKNOWN' }, header: { reason: 'effect_unknown' } } };
      expect(await answer(token!, true)).toMatchObject(unknown);
      const { token: longer } = await answer((await answer(first, '99')).token!, false);
      expect(await answer(longer!, 'because')).toMatchObject(unknown);
      expect(paid).toEqual(['10']);
    });

    it('is remembered for as long as its session may last', async () => {
      const shared = memoryStore();
      const kept: number[] = [];
      const spend = shared.spend.bind(shared);
      shared.spend = (id, rev, ms) => (kept.push(ms), spend(id, rev, ms));
      const limits = { duration: '3h' as const };
      const { answer, begin } = paying({ effect: 'once', tokens: make(), shared, limits });
      await answer((await answer(await begin(), '10')).token!, true);
      expect(kept).toEqual([3 * 3_600_000]);
    });

    it('learns its outcome from its check', async () => {
      const found = { check: () => 'found' };
      const { paid, answer, begin } = paying({ effect: 'once', tokens: make(), shared: memoryStore(), ...found });
      const { token } = await answer(await begin(), '10');
      await answer(token!, true);
      expect((await answer(token!, true)).turn.result).toBe('found');
      expect(paid).toEqual(['10']);
    });

    it('does not come so far where nothing would remember it', async () => {
      const { paid, answer, begin } = paying({ effect: 'once', tokens: make() });
      const { token } = await answer(await begin(), '10');
      expect((await answer(token!, true)).turn.failure).toMatchObject({ name: 'FLOW_MISUSED' });
      expect(paid).toEqual([]);
    });
  });
});
