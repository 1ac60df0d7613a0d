import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../kernel/exchange.ts';
import type { Outcome, Step, StepFunction } from '../../kernel/step.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { createLog } from '../../kernel/base/log.ts';
import { createChain } from './chain.ts';
import { FakeClock, FakeExchange, chainOf, settled } from '../../kernel/fake-exchange.contract.ts';
import { timeout } from '../features/timeout/timeout.ts';
import { respond } from './outcome.ts';

const answer = () => ({ ok: true });
const wrong = (step: unknown): StepFunction => step as StepFunction;

describe('the order of steps', () => {
  it('the order of steps is the order they are listed in, and the reverse on the way back', async () => {
    const seen: string[] = [];
    const tell = (name: string): Step => ({
      name,
      async handle(_exchange, next) {
        seen.push(`${name} in`);
        const outcome = await next();
        seen.push(`${name} out`);
        return outcome;
      },
    });
    const call = chainOf([tell('a'), tell('b'), tell('c')], () => {
      seen.push('target');
      return {};
    });
    await call('tools/list');
    expect(seen).toEqual(['a in', 'b in', 'c in', 'target', 'c out', 'b out', 'a out']);
  });

  it('lets a step answer without the rest', async () => {
    const call = chainOf([() => respond({ from: 'step' }), () => expect.unreachable()], answer);
    expect(await call('tools/call')).toEqual({ from: 'step' });
  });

  it('lets a step change what is asked and what is answered', async () => {
    const step: StepFunction = async (exchange, next) => {
      exchange.params = { ...exchange.params, added: 1 };
      const outcome = await next();
      outcome.result = { ...outcome.result, changed: true };
      return outcome;
    };
    const call = chainOf([step], ({ params }) => ({ params }));
    expect(await call('tools/call', { name: 'x' })).toEqual({ params: { name: 'x', added: 1 }, changed: true });
  });

  it('shows each step after next() what it has passed on', async () => {
    const seen: unknown[] = [];
    const look: StepFunction = async (exchange, next) => {
      const before = exchange.signal;
      const outcome = await next();
      seen.push(exchange.params.name, exchange.signal === before);
      return outcome;
    };
    const change: StepFunction = (exchange, next) => {
      exchange.params = { name: 'inner' };
      exchange.signal = AbortSignal.abort();
      return next();
    };
    const got: Exchange[] = [];
    const call = chainOf([look, change], (exchange) => {
      got.push({ ...exchange, params: exchange.params, signal: exchange.signal });
      exchange.params = { name: 'the router changes it too' };
      return {};
    });
    await call('tools/call', { name: 'outer' });
    expect(seen).toEqual(['outer', true]);
    expect([got[0]?.params.name, got[0]?.signal.aborted]).toEqual(['inner', true]);
  });
});

describe('a step around one whose time has run out', () => {
  /** The call never ends, so that the work goes on after the inner step has given up. */
  async function setUp() {
    const clock = new FakeClock();
    const inner: Exchange[] = [];
    const seen: unknown[] = [];
    const outer: StepFunction = async (exchange, next, lookUp) => {
      try {
        return await next();
      } catch {
        seen.push(exchange.signal.aborted, exchange.params.name, exchange.cancellation?.aborted);
        return respond(await lookUp('tools/list'));
      }
    };
    const rename: StepFunction = (exchange, next) => {
      exchange.params = { name: 'inner' };
      return next();
    };
    const call = chainOf([outer, timeout({ ms: 1000, clock }), rename], (exchange) => {
      if (exchange.method === 'tools/list') {
        if (exchange.signal.aborted) throw new GatewayError('CANCELLED');
        return { tools: [] };
      }
      inner.push(exchange);
      return new Promise(() => {});
    });
    const answer = call('tools/call', { name: 'outer' });
    await settled();
    await clock.advance(1000);
    return { result: await answer, inner: inner[0]!, seen };
  }

  it('a step around one whose time has run out has its own signal and params again, and can look things up', async () => {
    const { result, seen } = await setUp();
    expect(result).toEqual({ tools: [] });
    expect(seen).toEqual([false, 'outer', false]);
  });

  it('leaves the work that goes on with the signal and params that it was given', async () => {
    const { inner } = await setUp();
    expect([inner.signal.aborted, inner.cancellation?.aborted, inner.params.name]).toEqual([true, true, 'inner']);
  });
});

describe('a chain without steps', () => {
  it('a chain without steps is the target itself', () => {
    expect(createChain([], answer)).toBe(answer);
    expect(createChain([{ name: 'only hears of changes', onChange: (change) => change }], answer)).toBe(answer);
  });

  it('gives a method that no step handles to the target as it came', () => {
    const exchange = new FakeExchange('resources/read');
    const chain = createChain([{ name: 'a', methods: ['tools/call'], handle: (_, next) => next() }], (given) => ({
      same: given === exchange,
    }));
    expect(chain(exchange)).toEqual({ same: true });
    expect(exchange.signalReads).toBe(0);
  });
});

describe('a step for some methods', () => {
  it('a step for some methods is passed by all others', async () => {
    const seen: string[] = [];
    const tell = (name: string, methods?: string[]): Step => ({
      name,
      methods,
      handle: (exchange, next) => (seen.push(`${name} ${exchange.method}`), next()),
    });
    const call = chainOf([tell('any'), tell('calls', ['tools/call']), tell('lists', ['tools/list'])], answer);
    for (const method of ['tools/call', 'tools/list', 'prompts/get', 'made/up']) await call(method);
    expect(seen).toEqual([
      'any tools/call',
      'calls tools/call',
      'any tools/list',
      'lists tools/list',
      'any prompts/get',
      'any made/up',
    ]);
  });
});

describe('a mistake in a step is an error that names it', () => {
  const told = (reason: string) => ({ code: 'STEP_MISUSED', message: `Step mistaken ${reason}` });
  const mistaken = (handle: unknown) => chainOf([{ name: 'mistaken', handle: wrong(handle) }], answer)('tools/call');

  it('a mistake in a step is an error that names it for next() called twice', async () => {
    const twice: StepFunction = async (_, next) => {
      await next();
      return next();
    };
    await expect(mistaken(twice)).rejects.toMatchObject(told('called next() twice'));
  });

  it('a mistake in a step is an error that names it for next() called twice without looking at the second', async () => {
    const ignored: StepFunction = async (_, next) => {
      const outcome = await next();
      void next();
      return outcome;
    };
    await expect(mistaken(ignored)).rejects.toMatchObject(told('called next() twice'));
    const atOnce: StepFunction = (_, next) => {
      void next();
      return next();
    };
    await expect(mistaken(atOnce)).rejects.toMatchObject(told('called next() twice'));
  });

  it('a mistake in a step is an error that names it for a forgotten return', async () => {
    const reason = 'returned no outcome; write "return next()" or "return respond(…)"';
    const forgot = async (_: unknown, next: () => Promise<Outcome>) => void (await next());
    await expect(mistaken(forgot)).rejects.toMatchObject(told(reason));
    await expect(mistaken(() => ({ result: {} }))).rejects.toMatchObject(told(reason));
    await expect(mistaken(() => null)).rejects.toMatchObject(told(reason));
  });

  it('a mistake in a step is an error that names it for a function that makes a step, in the place of the step', async () => {
    const makes = () => ({ name: 'made', handle: (_: unknown, next: () => Promise<Outcome>) => next() });
    await expect(mistaken(makes)).rejects.toMatchObject({
      code: 'STEP_MISUSED',
      message: expect.stringContaining('returned a step: it is a function that makes one'),
    });
  });

  it('a mistake in a step is an error that names it for next() not awaited, however it ends', async () => {
    const hasty: StepFunction = (_, next) => {
      void next();
      return respond({});
    };
    await expect(mistaken(hasty)).rejects.toMatchObject(told('did not wait for next()'));
    const failing = chainOf([{ name: 'mistaken', handle: hasty }], () => Promise.reject(new Error('late')));
    await expect(failing('tools/call')).rejects.toMatchObject(told('did not wait for next()'));
    await settled(); // an unhandled rejection would end the run
  });

  it('a mistake in a step is an error that names it for what it throws after next(), however that ends', async () => {
    const throwing: StepFunction = (_, next) => {
      void next();
      throw new ProtocolError(-1, 'early');
    };
    const failing = chainOf([{ name: 'mistaken', handle: throwing }], () => Promise.reject(new Error('late')));
    await expect(failing('tools/call')).rejects.toMatchObject({ message: 'early' });
    await settled(); // an unhandled rejection would end the run
  });

  it('a mistake in a step is an error that names it for next() called when the answer is given', async () => {
    let late: () => Promise<Outcome> = () => expect.unreachable();
    await mistaken((_: unknown, next: () => Promise<Outcome>) => ((late = next), respond({})));
    await expect(late()).rejects.toMatchObject(told('called next() after it had answered'));
  });
});

describe('a step that throws', () => {
  const failing: StepFunction = function failing() {
    throw new Error('password is 1234');
  };

  it('a step that throws is named for the client, without its error, which is in the log', async () => {
    const error = await chainOf(
      [(_, next) => next(), failing],
      answer,
    )('tools/list').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'STEP_FAILED', details: { step: 'failing' } });
    expect((error as GatewayError).message).toBe('Internal error');
    expect((error as GatewayError).row.code).toBe(-32603);
    let line = '';
    createLog({ write: (text) => (line = text) }).error({ cause: (error as GatewayError).cause }, 'exchange.failed');
    expect(JSON.parse(line)).toMatchObject({ cause: { message: 'password is 1234' } });
  });

  it('passes errors of ours as they are', async () => {
    const denied = new GatewayError('ACCESS_DENIED', { uri: 'file:///etc' });
    const own = new ProtocolError(-32050, 'mine', { a: 1 });
    for (const error of [denied, own]) {
      await expect(chainOf([() => Promise.reject(error)], answer)('tools/list')).rejects.toBe(error);
    }
  });

  it('a step that throws is not blamed for what the target throws', async () => {
    const call = chainOf([async (_, next) => next()], () => Promise.reject(new TypeError('of the target')));
    const error = await call('tools/list').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'INTERNAL', details: {}, cause: { message: 'of the target' } });
  });
});

describe('the log of a chain', () => {
  const logging = (steps: Step[]) => {
    const lines: { event: string; step: string; reason: string }[] = [];
    const log = createLog({ write: (line) => lines.push(JSON.parse(line) as (typeof lines)[number]) });
    const chain = createChain(steps, answer, { log });
    const call = async () => chain(new FakeExchange('tools/call'));
    return { lines, call };
  };

  it('the log reports a step that breaks the rules once, by name', async () => {
    const late: Step = {
      name: 'late',
      handle(_exchange, next) {
        setImmediate(() => void next().catch(() => {}));
        return respond({});
      },
    };
    const { lines, call } = logging([{ name: 'outer', handle: (_, next) => next() }, late]);
    for (let times = 0; times < 3; times++) {
      await call();
      await settled();
    }
    expect(lines).toMatchObject([
      { event: 'step.misused', step: 'late', reason: 'called next() after it had answered' },
    ]);
  });

  it('reports each mistake, whichever step passes its error on', async () => {
    const forgets: Step = { name: 'forgets', handle: wrong(() => undefined) };
    const { lines, call } = logging([{ name: 'outer', handle: async (_, next) => await next() }, forgets]);
    await expect(call()).rejects.toMatchObject({ code: 'STEP_MISUSED' });
    await expect(call()).rejects.toMatchObject({ code: 'STEP_MISUSED' });
    expect(lines).toMatchObject([{ step: 'forgets', reason: expect.stringContaining('returned no outcome') }]);
  });
});
