import { describe, expect, it } from 'vitest';
import { chainOf } from '../../kernel/fake-exchange.contract.ts';
import { onCall, onCustomMethod, onList, onMethod } from './to-step.ts';
import { respond } from './outcome.ts';

const here = () => respond({ here: true });
const there = () => ({ here: false });

async function handled(step: Parameters<typeof chainOf>[0][number], methods: string[]): Promise<string[]> {
  const call = chainOf([step], there);
  const answers = await Promise.all(methods.map(async (method) => ({ method, ...(await call(method)) })));
  return answers.filter((answer) => 'here' in answer && answer.here).map(({ method }) => method);
}

const METHODS = [
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
];

describe('narrow steps', () => {
  it('handle the methods they are for, and no others', async () => {
    expect(await handled(onMethod('prompts/get', here), METHODS)).toEqual(['prompts/get']);
    expect(await handled(onMethod(['prompts/get', 'tools/list'], here), METHODS)).toEqual([
      'tools/list',
      'prompts/get',
    ]);
    expect(await handled(onCall(here), METHODS)).toEqual(['tools/call']);
    expect(await handled(onList(here), METHODS)).toEqual(METHODS.filter((method) => method.endsWith('/list')));
  });

  it('narrow steps are called like their function, or else like their methods', () => {
    expect(onCall(here).name).toBe('here');
    expect(onCustomMethod(['a', 'b'], () => respond({})).name).toBe('a, b');
  });
});
