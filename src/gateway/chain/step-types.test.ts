// Checked by tsc: what must not compile is marked, and a mark on a line that does compile is an error.
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../kernel/exchange.ts';
import type { Outcome, Step, StepFunction } from '../../kernel/step.ts';
import type { ChainExchange } from './chain-exchange.ts';
import { onCall, onCustomMethod, onMethod } from './to-step.ts';
import { respond } from './outcome.ts';

const returned: StepFunction = (_, next) => next();
const awaited: StepFunction = async (_, next) => await next();
const answered: StepFunction = () => respond({});

// @ts-expect-error the outcome of next() is not returned
const forgotten: StepFunction = async (_, next) => {
  await next();
};

// @ts-expect-error nothing is returned on one of the ways
const forgottenSometimes: StepFunction = async (exchange, next) => {
  if (exchange.method === 'tools/call') return next();
};

// @ts-expect-error next() is not called
const passed: StepFunction = (_, next) => next;

// @ts-expect-error a result is not an outcome
const bare: StepFunction = () => ({ result: {} });

// @ts-expect-error an outcome cannot be made by hand
const byHand: Outcome = { result: {} };

const step: Step = {
  name: 'forgetful',
  // @ts-expect-error the same in a Step
  handle: async (_, next) => void (await next()),
};

/** Also what is optional in an exchange has to reach the target through the chain. */
const forgottenParts: Exclude<keyof Exchange, keyof ChainExchange>[] = [];
const noneForgotten: never[] = forgottenParts;

const typed = [
  onMethod('tools/call', async (exchange, next) => {
    const name: string = exchange.params.name;
    const outcome = await next();
    outcome.result = { ...outcome.result, content: [{ type: 'text', text: name }] };
    return outcome;
  }),
  // @ts-expect-error a misspelled method
  onMethod('tool/call', (_, next) => next()),
  // @ts-expect-error a parameter that the method does not have
  onMethod('resources/read', (exchange, next) => (exchange.params.name ? next() : next())),
  onCall(async (_, next) => {
    const outcome = await next();
    // @ts-expect-error a result that the method does not have
    outcome.result = { content: 5 };
    return outcome;
  }),
  // @ts-expect-error the outcome of next() is not returned
  onCall(async (_, next) => void (await next())),
  onCustomMethod('acme/run', (_, next) => next()),
];

describe('the type of an outcome', () => {
  it('makes a forgotten return a type error, and a misspelled method', () => {
    const all = [returned, awaited, answered, forgotten, forgottenSometimes, passed, bare, byHand, step, ...typed];
    expect([...all, noneForgotten]).not.toContain(undefined);
  });
});
