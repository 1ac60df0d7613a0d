import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/message.ts';
import { FakeExchange, answerOf } from './fake-exchange.contract.ts';
import { Server } from './server.ts';
import type { Completer } from './types.ts';

function completing(completer: Completer) {
  const server = new Server({ name: 'test', version: '1' });
  server.prompt('p', { complete: { a: completer } }, () => '');
  server.template(
    'file:///{path}',
    { complete: { path: (value) => [{ value: `${value}!`, description: 'D' }] } },
    () => '',
  );
  return async (ref: JsonObject, argument: JsonObject = { name: 'a', value: 'x' }, context?: JsonObject) => {
    const params = { ref, argument, ...(context && { context }) };
    return (await answerOf(server, new FakeExchange('completion/complete', { params })))['completion'];
  };
}

const prompt = { type: 'ref/prompt', name: 'p' };
const nothing = { values: [], total: 0, hasMore: false };
const many = (length: number) => Array.from({ length }, (_, index) => `${index}`);

describe('completion', () => {
  it('gives the values of the argument’s completer, which sees the other arguments', async () => {
    const ask = completing((value, { arguments: others }) => [value, others['b'] ?? '']);
    const completion = await ask(prompt, { name: 'a', value: 'x' }, { arguments: { b: 'y' } });
    expect(completion).toEqual({ values: ['x', 'y'], total: 2, hasMore: false });
  });

  it('cuts at 100 values and says how many there are', async () => {
    expect(await completing(() => many(120))(prompt)).toEqual({ values: many(100), total: 120, hasMore: true });
    const told = completing(async () => ({ values: ['a'], total: 7 }));
    expect(await told(prompt)).toEqual({ values: ['a'], total: 7, hasMore: true });
    const open = completing(() => ({ values: ['a'], hasMore: true }));
    expect(await open(prompt)).toEqual({ values: ['a'], hasMore: true });
  });

  it.each(['file:///{path}', 'file://{path}'])('finds the template by %s and keeps descriptions', async (uri) => {
    const ask = completing(() => []);
    const completion = await ask({ type: 'ref/resource', uri }, { name: 'path', value: '/d' });
    expect(completion).toEqual({ values: [{ value: '/d!', description: 'D' }], total: 1, hasMore: false });
  });

  it('completion has nothing for what is unknown', async () => {
    const ask = completing(() => ['a']);
    expect(await ask({ type: 'ref/prompt', name: 'none' })).toEqual(nothing);
    expect(await ask({ type: 'ref/resource', uri: 'x://{y}' })).toEqual(nothing);
    expect(await ask({ type: 'ref/other' })).toEqual(nothing);
    expect(await ask(prompt, { name: 'constructor', value: '' })).toEqual(nothing);
  });

  it.each([
    [undefined, {}, 'ref'],
    [{ type: 'ref/prompt' }, { name: 'a', value: '' }, 'ref.name'],
    [prompt, { value: '' }, 'argument.name'],
    [prompt, { name: 'a' }, 'argument.value'],
  ])('refuses the ref %j with the argument %j', async (ref, argument, parameter) => {
    const asked = completing(() => [])(ref as JsonObject, argument);
    const details = { parameter, error: 'Required parameter missing' };
    await expect(asked).rejects.toMatchObject({ code: 'INVALID_PARAMS', details });
  });
});
