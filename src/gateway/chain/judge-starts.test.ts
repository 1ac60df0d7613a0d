import { expect, it } from 'vitest';
import { readPlayAsCall } from '../../kernel/flow/play-as-call.ts';
import type { Step } from '../../kernel/step.ts';
import type { Handle } from '../../kernel/target.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { FakeExchange, chainOf } from '../../kernel/fake-exchange.contract.ts';

const START = { toolName: 'book', initialParams: { city: 'Oslo' }, context: { a: 1 } };
const start = () => new FakeExchange('interaction.start', START);
const isCall = (handle: Step['handle']): Step => ({ name: 'guard', methods: ['tools/call'], handle });
const last: Handle = ({ method, params }) =>
  method === 'tools/list' ? { tools: [{ name: 'book' }] } : { sessionId: 's', got: params };

it('shows a start as a call, and passes on what the step changed in it', async () => {
  const seen: unknown[] = [];
  const step = isCall((exchange, next) => {
    seen.push(exchange.method, exchange.params);
    exchange.params = { ...exchange.params, arguments: { city: 'Bergen' } };
    return next();
  });
  const result = await chainOf([step], last)(start());
  expect(seen).toEqual(['tools/call', { name: 'book', arguments: { city: 'Oslo' } }]);
  expect(result).toMatchObject({ got: { ...START, initialParams: { city: 'Bergen' } } });
});

it.each<[string, Step['handle']]>([
  [
    'reads the result',
    async (_, next) => {
      const outcome = await next();
      expect(outcome.result).toBeDefined();
      return outcome;
    },
  ],
  [
    'asks',
    async (exchange, next) => {
      await exchange.ask({ method: 'elicitation/create', params: {} }).catch(() => {
        throw new GatewayError('ACCESS_DENIED', { uri: 'x' });
      });
      return next();
    },
  ],
  [
    'listens',
    (exchange, next) => {
      exchange.intercept({});
      return next();
    },
  ],
])('a step that %s makes the tool be called', async (_, handle) => {
  const result = await chainOf([isCall(handle)], last)(start());
  expect(readPlayAsCall(result)).toEqual({ tool: 'book', wantedBy: 'step' });
});

it('a step that says it sees starts is shown no call', async () => {
  const seen: string[] = [];
  const step: Step = {
    name: 'spy',
    seesStarts: true,
    handle(exchange, next) {
      seen.push(exchange.method);
      return next();
    },
  };
  await chainOf([step], last)(start());
  expect(seen).toEqual(['interaction.start']);
});

it.each<[string, Handle]>([
  ['fails', () => Promise.reject(new Error('broken'))],
  ['says nothing', () => ({})],
])('a session that began elsewhere does not run on unjudged if its state %s', async (_, getState) => {
  const step = isCall(() => Promise.reject(new GatewayError('ACCESS_DENIED', { uri: 'x' })));
  let ran = false;
  const server: Handle = (exchange) => {
    if (exchange.method === 'interaction.getState') return getState(exchange);
    ran = true;
    return {};
  };
  const answer = new FakeExchange('interaction.respond', { sessionId: 's', response: { value: 1 } });
  await expect(chainOf([step], server)(answer)).rejects.toMatchObject({ code: 'FLOW_NOT_INTERACTIVE' });
  expect(ran).toBe(false);
});
