import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../mcp/eras/fake-views.contract.ts';
import type { ClientView } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';
import { UNASKED_CANCEL } from '../kernel/form/human-marks.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import { FakeClock } from '../mcp/eras/fake-context.contract.ts';
import { HumanCheck } from './human-check.ts';
import { noPerson } from './trust/answer-trust.ts';

const client = (principal = 'alice'): ClientView => ({
  ...SPEAKING.stateless,
  revision: 'r1',
  info: { name: 'tester', version: '1' },
  capabilities: { elicitation: {} },
  principal,
});
const ask = {
  method: 'elicitation/create',
  params: { requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } },
};
const DECLINE = { action: 'decline' };

function checked() {
  const clock = new FakeClock();
  const check = new HumanCheck(clock);
  const take = (answer: JsonObject, ms = 0, who = client()) =>
    check.take(ask, who, async () => {
      clock.advance(ms);
      return answer;
    });
  return { clock, check, take };
}

describe('an answer by a person', () => {
  it('an answer by a person is a form that is filled in, however quickly', async () => {
    const { take, check } = checked();
    for (const ok of [true, false]) {
      const answer = { action: 'accept', content: { ok } };
      expect(await take(answer)).toBe(answer);
    }
    expect(check.isTrusted(client())).toBe(true);
  });

  it.each([[undefined], [{}], [{ other: 1 }]])(
    'an answer by a person is not a form sent back with %j',
    async (content) => {
      const { take } = checked();
      expect(await take({ action: 'accept', ...(content && { content }) })).toBeUndefined();
    },
  );

  it.each([[DECLINE], [{ action: 'cancel' }]])(
    'an answer by a person is an instant %j once, but not twice in a row',
    async (refusal) => {
      const { take, check } = checked();
      expect(await take(refusal, 399)).toBe(refusal);
      expect(check.isTrusted(client())).toBe(true);
      expect(await take(refusal, 399)).toBeUndefined();
      expect(check.isTrusted(client())).toBe(false);
      expect(check.isTrusted(client('bob'))).toBe(true);
    },
  );

  it('an answer by a person is not an empty form, and the client still gets forms', async () => {
    const { take, check } = checked();
    for (let times = 0; times < 3; times++) expect(await take({ action: 'accept', content: {} })).toBeUndefined();
    expect(check.isTrusted(client())).toBe(true);
  });

  it('an answer by a person is a slow refusal, however often', async () => {
    const { take, check } = checked();
    for (const ms of [0, 400, 0, 400, 400]) expect(await take(DECLINE, ms)).toBe(DECLINE);
    expect(check.isTrusted(client())).toBe(true);
  });

  it('need not come at once from a client that says that it asked nobody, and gets forms all the same', async () => {
    const { take, check } = checked();
    for (let n = 0; n < 3; n++) expect(await take(UNASKED_CANCEL)).toBe(UNASKED_CANCEL);
    expect(check.isTrusted(client())).toBe(true);
    expect(await take({ ...UNASKED_CANCEL, action: 'accept' })).toBeUndefined();
  });

  it('an answer by a person cannot come from a client that does not support the question', async () => {
    for (const code of [-32601, -32600]) {
      const { check } = checked();
      const refused = new GatewayError('ASK_REFUSED', { method: ask.method, reason: 'no', code });
      expect(await check.take(ask, client(), () => Promise.reject(refused))).toBeUndefined();
      expect(check.isTrusted(client())).toBe(false);
    }
  });

  it('passes on other errors', async () => {
    const { check } = checked();
    const refused = new GatewayError('ASK_REFUSED', { method: ask.method, reason: 'no', code: -32603 });
    await expect(check.take(ask, client(), () => Promise.reject(refused))).rejects.toBe(refused);
    expect(check.isTrusted(client())).toBe(true);
  });

  it('an answer by a person is expected again after an hour', async () => {
    const { take, check, clock } = checked();
    await take(DECLINE);
    await take(DECLINE);
    clock.advance(3_599_999);
    expect(check.isTrusted(client())).toBe(false);
    clock.advance(1);
    expect(check.isTrusted(client())).toBe(true);
  });
});

it('a refusal names the user as parley pair takes them', () => {
  const of = (principal: string, key?: string) =>
    noPerson({ principal, connection: { transport: 'http', identity: { principal, key } } } as never).message;
  expect(of('https://login.test#carol')).toContain("(run: parley pair --user 'https://login.test#carol')");
  expect(of("it's")).toContain(String.raw`--user 'it'\''s'`);
  expect(of('key:zoe', 'lap1')).toContain("--user 'zoe'");
  expect(noPerson({ principal: 'anonymous:x' } as never).message).toContain('is paired with this gateway');
});
