import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { checkQuestions } from '../../../kernel/containers/open-questions.contract.ts';
import { toSuspended } from '../../../kernel/target.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import type { GatewayError } from '../../../kernel/base/errors.ts';
import { FakeClock, FakeTarget, RecordingOutlet, enveloped, fakeContext, settled } from '../fake-context.contract.ts';
import type { RecordedAnswer } from '../fake-context.contract.ts';
import type { ServeContextOptions } from '../serve/serve-context.ts';
import { META } from '../meta.ts';
import { serveStateless } from './serve-stateless.ts';
import type { StatelessExchange } from './stateless-exchange.ts';

type Handle = (exchange: Exchange) => Promise<JsonObject>;

const CAN: JsonObject = { [META.clientCapabilities]: { elicitation: {}, sampling: {}, roots: {} } };
const ask = (exchange: Exchange, key?: string) => exchange.ask({ method: 'roots/list', key });
const text = (value: unknown): JsonObject => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

function play(handle: Handle, options?: ServeContextOptions) {
  const clock = new FakeClock();
  const target = new FakeTarget(handle);
  const context = fakeContext(target, { clock, ...options });
  let id = 0;
  const put = (params: JsonObject, { principal = 'local', method = 'tools/call', meta = CAN } = {}) => {
    const outlet = new RecordingOutlet();
    serveStateless(context, enveloped(id++, method, { name: 'x', ...params }, meta), outlet, { principal });
    return outlet;
  };
  return { clock, context, target, put };
}

async function asked(
  outlet: RecordingOutlet,
): Promise<{ keys: string[]; requestState: string; questions: JsonObject }> {
  const { result } = await outlet.answer();
  expect(result!.resultType).toBe('input_required');
  const questions = result!.inputRequests as JsonObject;
  return { keys: Object.keys(questions), requestState: result!.requestState as string, questions };
}

const errorOf = async (outlet: RecordingOutlet) => (await outlet.answer()).error;

checkQuestions('to a client of the stateless era', () => {
  let exchange!: StatelessExchange;
  const { put, context } = play((asking) => {
    exchange = asking as StatelessExchange;
    return new Promise(() => {});
  });
  let outlet: RecordingOutlet | undefined = put({});
  let requestState: unknown = '';
  return {
    ask: (one, signal) => exchange.ask(one, signal),
    async shown() {
      await settled();
      const { result } = (outlet?.ends[0] ?? {}) as Partial<RecordedAnswer>;
      requestState = result?.requestState ?? requestState;
      const questions = Object.entries(result?.inputRequests ?? {}) as [string, { params: JsonObject }][];
      return questions.map(([key, { params }]) => ({ key, message: String(params.message) }));
    },
    async answer(key, action) {
      const retry = put({ requestState, inputResponses: Object.fromEntries([[key, { action }]]) });
      await settled();
      const { result, error } = (retry.ends[0] ?? {}) as Partial<RecordedAnswer>;
      if (result?.isError || error) return;
      outlet = retry;
      requestState = result?.requestState ?? requestState;
    },
    end() {
      context.parked.clear();
      exchange.cancel();
      outlet = undefined;
    },
  };
});

describe('rounds of questions', () => {
  it('carry questions that are asked together, answered in one retry', async () => {
    const { put } = play(async (exchange) =>
      text(await Promise.all([ask(exchange, 'a'), ask(exchange), ask(exchange, 'a')])),
    );
    const { keys, requestState, questions } = await asked(put({}));
    expect(keys).toEqual(['a', 'ask-1', 'a-2']);
    expect(questions.a).toEqual({ method: 'roots/list' });
    const inputResponses = { a: { n: 1 }, 'ask-1': { n: 2 }, 'a-2': { n: 3 }, unknown: {} };
    const { result } = await put({ requestState, inputResponses }).answer();
    expect(result).toMatchObject(text([{ n: 1 }, { n: 2 }, { n: 3 }]));
  });

  it('repeat only the questions without an answer', async () => {
    const { put } = play(async (exchange) => text(await Promise.all([ask(exchange, 'a'), ask(exchange, 'b')])));
    const first = await asked(put({}));
    const second = await asked(put({ requestState: first.requestState, inputResponses: { a: { n: 1 } } }));
    expect(second.keys).toEqual(['b']);
    expect(second.requestState).not.toBe(first.requestState);
    const third = await asked(put({ requestState: second.requestState }));
    expect(third.keys).toEqual(['b']);
    const last = put({ requestState: third.requestState, inputResponses: { b: { n: 2 } } });
    expect((await last.answer()).result).toMatchObject(text([{ n: 1 }, { n: 2 }]));
  });

  it.each([['x'], [[]], [7], [{ a: 'yes' }], [{ a: null }]])(
    'malformed answers (%j) are an error, and cost nothing: the retry can be mended',
    async (inputResponses) => {
      const { put } = play(async (exchange) => text(await ask(exchange, 'a')));
      const { requestState } = await asked(put({}));
      const malformed = put({ requestState, inputResponses });
      expect(await errorOf(malformed)).toMatchObject({ code: -32602, data: { error: 'Must be an object' } });
      const mended = put({ requestState, inputResponses: { a: {} } });
      expect((await mended.answer()).result).toMatchObject(text({}));
    },
  );

  it('use answers that came with a new call, which no target sees', async () => {
    const { put, target } = play(async (exchange) => text([await ask(exchange, 'a'), await ask(exchange, 'b')]));
    const { keys } = await asked(put({ inputResponses: { a: { n: 1 }, z: {} } }));
    expect(keys).toEqual(['b']);
    expect(target.seen[0]!.params).toEqual({ name: 'x' });
  });

  it('take one round for each question in sequence, up to the limit', async () => {
    const { put } = play(
      async (exchange) => {
        for (;;) await ask(exchange, 'again');
      },
      { limits: { maxRounds: 2 } },
    );
    const inputResponses = { again: {} };
    const first = await asked(put({}));
    const second = await asked(put({ requestState: first.requestState, inputResponses }));
    expect(await errorOf(put({ requestState: second.requestState, inputResponses }))).toMatchObject({
      code: -32000,
      data: { limit: 'maxRounds' },
    });
  });

  it('send a question of a parked call with its retry, and nothing in between', async () => {
    let second!: () => void;
    const late = new Promise<void>((resolve) => (second = resolve));
    const { put } = play(async (exchange) => {
      const other = late.then(() => ask(exchange, 'b'));
      exchange.progress({ progress: 1 });
      const answers = await Promise.all([ask(exchange, 'a'), other]);
      return text(answers);
    });
    const outlet = put({}, { meta: { ...CAN, progressToken: 1 } });
    const first = await asked(outlet);
    second();
    await settled();
    expect(outlet.ends).toHaveLength(1);
    expect(outlet.sent).toHaveLength(1);
    const next = await asked(put({ requestState: first.requestState, inputResponses: { a: {} } }));
    expect(next.keys).toEqual(['b']);
  });

  it.each([
    ['result', async () => text('done'), { result: text('done') }],
    ['error', async () => Promise.reject(new Error('x')), { error: { code: -32603 } }],
  ] as const)(
    'a handler that does not wait for the answer: its %s is told to the retry',
    async (_, outcome, expected) => {
      const { put, context } = play(async (exchange) => {
        ask(exchange, 'a').catch(() => {});
        await settled();
        return outcome();
      });
      const outlet = put({});
      const { requestState } = await asked(outlet);
      await settled();
      await settled();
      expect(outlet.ends).toHaveLength(1);
      const answer: RecordedAnswer = await put({ requestState }).answer();
      expect(answer).toMatchObject(expected);
      expect(context.parked.size).toBe(0);
    },
  );

  it('ask only what the request declared, for methods that may ask', async () => {
    const refused = async (exchange: Exchange) => text(await ask(exchange).catch((error: GatewayError) => error.code));
    const { put } = play(refused);
    expect((await put({}, { meta: {} }).answer()).result).toMatchObject(text('CLIENT_CANNOT_BE_ASKED'));
    expect((await put({}, { method: 'completion/complete' }).answer()).error).toBeDefined();
    const ping = play(async (exchange) => text(exchange.canAsk({ method: 'ping' })));
    expect((await ping.put({}).answer()).result).toMatchObject(text(false));
  });

  it('have no elicitation ids', async () => {
    const { put } = play(async (exchange) => {
      const params = { mode: 'form', message: 'm', elicitationId: 'e' };
      return exchange.ask({ method: 'elicitation/create', params, key: 'k' });
    });
    const { questions } = await asked(put({}));
    expect(questions.k).toEqual({ method: 'elicitation/create', params: { mode: 'form', message: 'm' } });
  });
});

describe('request state', () => {
  const waiting = async (exchange: Exchange) => text(await ask(exchange, 'a'));
  const answers = { inputResponses: { a: {} } };

  it('works once', async () => {
    const { put } = play(waiting);
    const { requestState } = await asked(put({}));
    expect((await put({ requestState, ...answers }).answer()).result).toBeDefined();
    const { result } = await put({ requestState, ...answers }).answer();
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('may already have acted') }],
    });
  });

  it.each<[string, JsonObject, { principal?: string; method?: string }]>([
    ['another principal', {}, { principal: 'somebody' }],
    ['another tool', { name: 'y' }, {}],
    ['other arguments', { arguments: { a: 1 } }, {}],
    ['another method', {}, { method: 'prompts/get' }],
  ])('does not open for %s, and still works for its own request', async (_, params, options) => {
    const { put } = play(waiting);
    const { requestState } = await asked(put({}));
    expect((await errorOf(put({ requestState, ...answers, ...params }, options)))!.code).toBe(-32602);
    expect((await put({ requestState, ...answers }).answer()).result).toBeDefined();
  });

  it('accepts reordered arguments but not changed ones', async () => {
    const { put } = play(waiting);
    const state = async (args: JsonObject) => (await asked(put({ arguments: args }))).requestState;
    const retry = (requestState: string, args: JsonObject) =>
      put({ requestState, ...answers, arguments: args }).answer();
    expect(
      (await retry(await state({ a: 1, b: { c: [2], d: 3 } }), { b: { d: 3, c: [2] }, a: 1 })).result,
    ).toBeDefined();
    expect((await retry(await state({ x: { a: 1 } }), { x: [['a', 1]] })).error).toBeDefined();
  });

  it('is refused if altered, made up or of the wrong type', async () => {
    const { put } = play(waiting);
    const { requestState } = await asked(put({}));
    // In the middle: the last character of base64 has bits that stand for nothing.
    const middle = requestState.length >> 1;
    const other = requestState[middle] === 'A' ? 'B' : 'A';
    const changed = requestState.slice(0, middle) + other + requestState.slice(middle + 1);
    for (const state of [changed, `${requestState}=`, '', 'x', 7, null, {}, 'A'.repeat(100)]) {
      expect((await errorOf(put({ requestState: state, ...answers })))!.code).toBe(-32602);
    }
  });

  it('expires, and the handler’s question is rejected', async () => {
    const { put, clock, context, target } = play(waiting, { limits: { parkedMs: 1000 } });
    const outlet = put({});
    const { requestState } = await asked(outlet);
    clock.advance(999);
    expect(context.parked.size).toBe(1);
    clock.advance(1);
    expect(context.parked.size).toBe(0);
    expect(target.seen[0]!.signal.aborted).toBe(true);
    expect((await put({ requestState, ...answers }).answer()).result).toMatchObject({ isError: true });
    await settled();
    expect(outlet.ends.filter((end) => end !== undefined)).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });

  it('begins a lost call again as long as no server had it, whatever it was answered', async () => {
    const before = (key: string) => ({ method: 'roots/list', key, isBefore: true });
    const handle: Handle = async (exchange) => {
      const first = await exchange.ask(before('may'));
      return text([first, await exchange.ask({ method: 'roots/list', key: 'more' })]);
    };
    const sealer = createSealer(['a key of both']);
    const [lost, other] = [play(handle, { sealer }), play(handle, { sealer })];
    const { requestState } = await asked(lost.put({}));
    const yes = { inputResponses: { may: { roots: [] } } };
    const again = await asked(other.put({ requestState, ...yes }));
    expect(again.keys).toEqual(['may']);
    const later = await asked(other.put({ requestState: again.requestState, ...yes }));
    expect(later.keys).toEqual(['more']);
    const third = await lost.put({ requestState: later.requestState, ...yes }).answer();
    expect(third.result).toMatchObject({ isError: true });
    expect(JSON.stringify(third.result)).toContain('has ended. The tool may already have acted');
    expect(lost.target.seen).toHaveLength(1);
    const used = await other.put({ requestState: again.requestState, ...yes }).answer();
    expect(JSON.stringify(used.result)).toContain('it was already answered');
    expect(other.target.seen).toHaveLength(1);
  });

  it('is limited per principal, without affecting others', async () => {
    const { put, context } = play(waiting, { limits: { maxParked: 2 } });
    await asked(put({}));
    const { requestState } = await asked(put({}));
    expect(await errorOf(put({}))).toMatchObject({ code: -32000, data: { limit: 'maxParked' } });
    await asked(put({}, { principal: 'somebody' }));
    await put({ requestState, ...answers }).answer();
    await asked(put({}));
    context.parked.clear();
    expect(context.parked.size).toBe(0);
  });
});

describe('a suspended call', () => {
  const questions = { city: { method: 'elicitation/create', params: { mode: 'form', message: 'Where?' } } };
  const suspending = async (exchange: Exchange) => {
    if (!exchange.maySuspend) return { content: [], told: 'not here' };
    return exchange.resumed
      ? { content: [], resumed: exchange.resumed }
      : toSuspended({ questions, state: 'of the server' });
  };

  it('is repeated with the answers and its own state, and keeps nothing in memory', async () => {
    const { put, context } = play(suspending);
    const result = await asked(put({}));
    expect(result).toMatchObject({ questions });
    expect(JSON.stringify(result)).not.toContain('of the server');
    expect(context.parked.size).toBe(0);
    const inputResponses = { city: { action: 'accept', content: { city: 'Oslo' } } };
    const again = await put({ requestState: result.requestState, inputResponses }).answer();
    expect(again.result).toMatchObject({ resumed: { state: 'of the server', answers: inputResponses } });
  });

  it.each<[string, JsonObject, { principal?: string }]>([
    ['another principal', {}, { principal: 'somebody' }],
    ['another tool', { name: 'y' }, {}],
    ['other arguments', { arguments: { a: 1 } }, {}],
  ])('does not open for %s', async (_, params, options) => {
    const { put } = play(suspending);
    const { requestState } = await asked(put({}));
    expect((await errorOf(put({ ...params, requestState }, options)))!.code).toBe(-32602);
  });

  it('expires if no answer comes', async () => {
    const { put, clock } = play(suspending, { limits: { parkedMs: 1000 } });
    const { requestState } = await asked(put({}));
    clock.advance(1001);
    expect((await errorOf(put({ requestState })))!.code).toBe(-32602);
  });

  it('is good for as long as its target says', async () => {
    const patient = async ({ resumed }: Exchange) =>
      resumed ? { content: [], resumed } : toSuspended({ questions, state: 'x', lastsMs: 5000 });
    const { put, clock } = play(patient, { limits: { parkedMs: 1000 } });
    const { requestState } = await asked(put({}));
    clock.advance(4999);
    expect((await put({ requestState }).answer()).result).toMatchObject({ resumed: { state: 'x' } });
    clock.advance(2);
    expect((await errorOf(put({ requestState })))!.code).toBe(-32602);
  });

  it('is suspended at most as often as the client allows', async () => {
    const endless = async (exchange: Exchange) =>
      exchange.maySuspend ? toSuspended({ questions, state: undefined }) : { content: [], told: 'not here' };
    const { put } = play(endless, { limits: { maxRounds: 2 } });
    const first = await asked(put({}));
    const second = await asked(put({ requestState: first.requestState }));
    expect((await put({ requestState: second.requestState }).answer()).result).toMatchObject({ told: 'not here' });
  });
});

it('a call with answers to expected questions passes them on', async () => {
  const { put } = play(async ({ resumed }) => ({ content: [], resumed }));
  const inputResponses = { city: { action: 'accept' }, unknown: {} };
  const { result } = await put({ inputResponses }).answer();
  expect(result).toMatchObject({ resumed: { answers: inputResponses } });
});
