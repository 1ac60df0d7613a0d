import { describe, expect, it } from 'vitest';
import type { Step, StepFunction } from '../../kernel/step.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { FakeExchange, chainOf, settled } from '../../kernel/fake-exchange.contract.ts';
import { respond } from './outcome.ts';

/** Adds its letter to everything that travels back. */
function marking(letter: string): Step {
  return {
    name: letter,
    handle(exchange, next) {
      exchange.intercept({
        progress: (progress, next) => next({ ...progress, message: `${progress.message}${letter}` }),
        log: (entry, next) => next({ ...entry, data: `${String(entry.data)}${letter}` }),
        notify: ({ method, params }, next) => next({ method: `${method}${letter}`, params }),
        ask: async (ask, next) => {
          const { answered } = await next({ ...ask, method: `${ask.method}${letter}` });
          return { answered: `${String(answered)}${letter}` };
        },
      });
      return next();
    },
  };
}

describe('hooks', () => {
  it('see progress, log lines, notifications and questions innermost first, answers outermost first', async () => {
    const exchange = new FakeExchange('tools/call');
    const call = chainOf([marking('a'), marking('b'), marking('c')], async (inner) => {
      inner.progress({ progress: 1, message: '' });
      inner.log({ level: 'info', data: '' });
      inner.notify('n-', { x: 1 });
      return inner.ask({ method: 'ask-' });
    });
    expect(await call(exchange)).toEqual({ answered: 'ask-cbaabc' });
    expect(exchange.sent).toEqual([
      { progress: 1, message: 'cba' },
      { level: 'info', data: 'cba' },
      { method: 'n-cba', params: { x: 1 } },
      { method: 'ask-cba' },
    ]);
  });

  it('hooks may withhold messages from the client, and answer for it', async () => {
    const exchange = new FakeExchange('tools/call');
    const silent: StepFunction = (inner, next) => {
      inner.intercept({ progress: () => {}, ask: async () => ({ action: 'decline' }) });
      return next();
    };
    const call = chainOf([silent], async (inner) => {
      inner.progress({ progress: 1 });
      inner.log({ level: 'info', data: 'passes' });
      return inner.ask({ method: 'elicitation/create' });
    });
    expect(await call(exchange)).toEqual({ action: 'decline' });
    expect(exchange.sent).toEqual([{ level: 'info', data: 'passes' }]);
  });

  it('hooks may only see questions, which then suspend as they would without it', async () => {
    const exchange = Object.assign(new FakeExchange('tools/call'), { maySuspend: true });
    const seen: string[] = [];
    const seeing: StepFunction = (inner, next) => {
      inner.intercept({ asked: ({ method }) => void seen.push(method) });
      return next();
    };
    const call = chainOf([seeing, marking('b')], (inner) => inner.ask({ method: 'ask-' }));
    expect(await call(exchange)).toEqual({ answered: 'ask-bb' });
    expect(seen).toEqual(['ask-b']);
    const suspending = chainOf([seeing], async ({ maySuspend }) => ({ maySuspend }));
    expect(await suspending(exchange)).toEqual({ maySuspend: true });
  });

  it('a failing hook fails the exchange in the name of its step, and its message is not sent', async () => {
    const exchange = new FakeExchange('tools/call');
    const broken: Step = {
      name: 'broken',
      handle(inner, next) {
        const fail = () => {
          throw new Error('oops');
        };
        inner.intercept({ progress: fail, ask: async () => fail() });
        return next();
      },
    };
    const call = chainOf([(_, next) => next(), broken, marking('x')], (inner) => {
      inner.progress({ progress: 1 });
      return { not: 'told' };
    });
    await expect(call(exchange)).rejects.toMatchObject({ code: 'STEP_FAILED', details: { step: 'broken' } });
    expect(exchange.sent).toEqual([]);
    const asking = chainOf([broken], (inner) => inner.ask({ method: 'roots/list' }));
    await expect(asking('tools/call')).rejects.toMatchObject({ code: 'STEP_FAILED', details: { step: 'broken' } });
  });
});

describe('a step that repeats', () => {
  const twice: Step = {
    name: 'twice',
    repeats: true,
    async handle(_, next) {
      await next().catch(() => {});
      return next();
    },
  };

  it('a step that repeats may call next() again when it has ended, each time with what it has passed on', async () => {
    const seen: unknown[] = [];
    const renaming: StepFunction = (exchange, next) => {
      exchange.params = { name: `inner-${String(exchange.params.name)}` };
      return next();
    };
    const call = chainOf([twice, renaming], ({ params }) => {
      seen.push(params.name);
      if (seen.length === 1) throw new Error('first');
      return { attempts: seen.length };
    });
    expect(await call('tools/call', { name: 'x' })).toEqual({ attempts: 2 });
    expect(seen).toEqual(['inner-x', 'inner-x']);
  });

  it('each attempt uses its own hooks, and messages of a failed one are dropped', async () => {
    const exchange = new FakeExchange('tools/call');
    const attempts: FakeExchange[] = [];
    const call = chainOf([marking('a'), twice, marking('b')], async (inner) => {
      attempts.push(inner as unknown as FakeExchange);
      inner.progress({ progress: attempts.length, message: '' });
      if (attempts.length === 1) throw new GatewayError('UPSTREAM_CLOSED', {});
      attempts[0]!.progress({ progress: 99 });
      await expect(attempts[0]!.ask({ method: 'late' })).rejects.toMatchObject({ code: 'CANCELLED' });
      return {};
    });
    await call(exchange);
    expect(exchange.sent).toEqual([
      { progress: 1, message: 'ba' },
      { progress: 2, message: 'ba' },
    ]);
  });

  it('a step that repeats must not call it while the former call is under way', async () => {
    const hasty: StepFunction = async (_, next) => {
      await Promise.race([next(), settled()]);
      return next();
    };
    const call = chainOf([{ name: 'hasty', repeats: true, handle: hasty }], () => new Promise(() => {}));
    await expect(call('tools/list')).rejects.toMatchObject({ message: 'Step hasty called next() twice' });
  });
});

describe('what a step looks up', () => {
  it('a lookup passes only the inner steps, for the same client and without messages to it', async () => {
    const exchange = new FakeExchange('tools/call', { name: 'x' });
    const looking: StepFunction = async (_, _next, lookUp) => respond(await lookUp('tools/list', { cursor: '7' }));
    const call = chainOf([() => expect.unreachable(), looking, marking('b')].slice(1), (inner) => {
      inner.progress({ progress: 1 });
      expect(inner.canAsk({ method: 'roots/list' })).toBe(false);
      return { method: inner.method, params: inner.params, principal: inner.client.principal };
    });
    expect(await call(exchange)).toEqual({ method: 'tools/list', params: { cursor: '7' }, principal: 'alice' });
    expect(exchange.sent).toEqual([]);
  });

  it('what a step looks up is given up when the exchange is', async () => {
    const exchange = new FakeExchange('tools/call');
    exchange.controller.abort();
    const looking: StepFunction = async (_, _next, lookUp) => respond(await lookUp('tools/list'));
    expect(await chainOf([looking], ({ signal }) => ({ aborted: signal.aborted }))(exchange)).toEqual({
      aborted: true,
    });
  });
});

describe('the exchange', () => {
  it('tells every step which server has answered', async () => {
    let server: string | undefined;
    const look: StepFunction = async (exchange, next) => {
      const outcome = await next();
      server = exchange.server;
      return outcome;
    };
    const repeating: Step = { name: 'r', repeats: true, handle: (_, next) => next() };
    await chainOf([look, repeating], (exchange) => ((exchange.server = 'files'), {}))('tools/call');
    expect(server).toBe('files');
  });

  it('names the chain it passes, and each chain differently', async () => {
    const scopes: string[] = [];
    const look: StepFunction = (exchange, next) => (scopes.push(exchange.scope), next());
    const [one, other] = [chainOf([look], () => ({})), chainOf([look], () => ({}))];
    for (const call of [one, one, other]) await call('tools/list');
    expect(scopes[0]).toBe(scopes[1]);
    expect(scopes[0]).not.toBe(scopes[2]);
  });
});
