import { describe, expect, it } from 'vitest';
import { RawObject } from '../../kernel/raw/raw-object.ts';
import type { Step } from '../../kernel/step.ts';
import { readRaw } from '../../mcp/wire/raw-message.ts';
import { createChain } from './chain.ts';
import { FakeExchange, chainOf } from '../../kernel/fake-exchange.contract.ts';
import { log } from '../features/log/log.ts';
import { isOutcome, toStepOutcome, resultIn } from './outcome.ts';

const RESULT = '{"content":[{"type":"text","text":"x"}],"n":12345678901234567890,"isError":false}';

function unread(): RawObject {
  return readRaw(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${RESULT}}`), { maxDepth: 10 })!.result as RawObject;
}

const throughSteps = async (...steps: Step[]) =>
  createChain(steps, () => unread())(new FakeExchange('tools/call', { name: 'a' }));

describe('a result that nobody has read', () => {
  it('passes steps that only let it pass as the bytes it came in', async () => {
    const passed = await throughSteps({ name: 'a', handle: (_, next) => next() }, log({ log: silent() }));
    expect(passed).toBeInstanceOf(RawObject);
    expect(Buffer.concat((passed as RawObject).chunks()).toString()).toBe(RESULT);
  });

  it('a result that nobody has read is read for a step that looks at it, and continues as that step has left it', async () => {
    const seen: unknown[] = [];
    const passed = await throughSteps({
      name: 'a',
      async handle(_, next) {
        const outcome = await next();
        seen.push(outcome.result.isError, outcome.result === outcome.result);
        outcome.result.content = ['changed in place'];
        return outcome;
      },
    });
    expect(seen).toEqual([false, true]);
    expect(passed).toMatchObject({ content: ['changed in place'], isError: false });
  });

  it('a result that nobody has read is replaced by a step without having been read', async () => {
    const passed = await throughSteps({
      name: 'a',
      async handle(_, next) {
        const outcome = await next();
        outcome.result = { content: [] };
        return outcome;
      },
    });
    expect(passed).toEqual({ content: [] });
  });

  it('a result that nobody has read can be used like any other by a step', () => {
    const outcome = toStepOutcome(unread());
    expect(isOutcome(outcome)).toBe(true);
    const { result } = outcome;
    expect(structuredClone(result)).toEqual(JSON.parse(RESULT));
    expect(JSON.parse(JSON.stringify(toStepOutcome(unread())))).toEqual({ result: JSON.parse(RESULT) });
    expect(isOutcome({ ...outcome, result })).toBe(true);
  });

  it('an object without a result is not an outcome', () => {
    expect(isOutcome({ ...toStepOutcome(unread()) })).toBe(false);
  });

  it('an unread result can be logged, and stays unread', async () => {
    const lines: unknown[] = [];
    const failed = toStepOutcome(unread().with({ isError: true }));
    const step = log({ log: silent(lines) });
    const returned = await step.handle!(
      new FakeExchange('tools/call') as never,
      async () => failed,
      async () => ({}),
    );
    expect(lines).toMatchObject([{ outcome: 'tool error' }]);
    expect(resultIn(returned)).toBeInstanceOf(RawObject);
  });

  it('a result that nobody has read is read for a step that looks something up', async () => {
    let found: unknown;
    const step: Step = {
      name: 'a',
      async handle(_, next, lookUp) {
        found = await lookUp('tools/call');
        return next();
      },
    };
    await chainOf([step], () => unread())('tools/call');
    expect(structuredClone(found)).toEqual(JSON.parse(RESULT));
  });
});

function silent(lines: unknown[] = []) {
  const note = (fields: object): void => void lines.push(fields);
  const made = { debug: note, info: note, warn: note, error: note, child: () => made };
  return made;
}
