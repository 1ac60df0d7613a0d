// What can be tried with the token of a session that is kept nowhere, over a real wire and with every method: none of it says more than
// that there is no such session.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { flow, memoryStore, serveFlows } from 'mcp-parley/flow';
import type { ServeFlowsOptions } from 'mcp-parley/flow';
import type { Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { until } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const two = flow({ name: 'two' }, async (ask) => [await ask.text('a', { alone: true }), await ask.text('b')]);
const other = flow({ name: 'other' }, (ask) => ask.text('a'));
const METHODS: Record<string, Json> = {
  'interaction.respond': { response: { value: 'x' } },
  'interaction.cancel': {},
  'interaction.continue': {},
  'interaction.complete': { result: { success: true, data: {} } },
  'interaction.getState': {},
  'interaction.extend': {},
};

const servers: ParleyServer[] = [];
async function client(options: ServeFlowsOptions = {}, flows = [two, other]): Promise<Wire> {
  const server = createServer({ name: 'tokens', version: '1', log });
  servers.push(server);
  serveFlows(server, flows, { tokens: 'signed', keys: ['the key of this test'], ...options });
  const { url } = await server.listen({ port: 0 });
  return visit(url);
}
async function visit(url: string): Promise<Wire> {
  const { wire } = await socketWire(Number(new URL(url).port));
  await wire.initialize();
  return wire;
}
async function started(wire: Wire, toolName = 'two', more: Json = {}): Promise<{ sessionId: unknown; token: unknown }> {
  const { result } = await wire.request('interaction.start', { toolName, ...more });
  return { sessionId: result?.sessionId, token: result?.token };
}

let wire: Wire;
beforeAll(async () => {
  wire = await client();
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

describe.each(Object.entries(METHODS))('%s', (method, params) => {
  const tries: Record<string, () => Promise<{ by: Wire; reference: Json }>> = {
    'without it': async () => ({ by: wire, reference: { sessionId: (await started(wire)).sessionId } }),
    'with that of another session of one’s own': async () => {
      const [one, another] = [await started(wire), await started(wire)];
      return { by: wire, reference: { sessionId: one.sessionId, token: another.token } };
    },
    'with that of another tool': async () => {
      const [one, another] = [await started(wire), await started(wire, 'other')];
      return { by: wire, reference: { sessionId: one.sessionId, token: another.token } };
    },
    'with a stranger’s': async () => ({ by: await client(), reference: await started(wire) }),
    'where the key is another': async () => ({
      by: await client({ keys: ['the key of another'] }),
      reference: await started(wire),
    }),
    'with its signature gone': async () => {
      const { sessionId, token } = await started(wire);
      const { signature: _, ...rest } = JSON.parse(Buffer.from(String(token), 'base64').toString()) as Json;
      return { by: wire, reference: { sessionId, token: Buffer.from(JSON.stringify(rest)).toString('base64') } };
    },
    'with one that is far too long': async () => {
      const { sessionId, token } = await started(wire);
      return { by: wire, reference: { sessionId, token: String(token) + 'A'.repeat(200_000) } };
    },
  };

  test.each(Object.entries(tries))('%s', async (_, make) => {
    const { by, reference } = await make();
    const { error } = await by.request(method, { ...reference, ...params });
    expect(error).toEqual({
      code: -32001,
      message: `Session not found: ${String(reference.sessionId)}`,
      data: { sessionId: reference.sessionId },
    });
  });

  test('after its time', async () => {
    const reference = await started(wire, 'two', { timeout: 50 });
    await until('it to be over', async () => {
      const { error } = await wire.request(method, { ...reference, ...params });
      if (error?.code === -32002) return true;
      expect(error?.code ?? 'accepted').toSatisfy((code) => ['accepted', -32003].includes(code as never));
      return false;
    });
  });
});

test('where a store counts the turns, the result is kept until it is acknowledged', async () => {
  const paid: string[] = [];
  const pay = flow({ name: 'pay' }, async (ask) => {
    const sum = await ask.number('sum');
    await ask.step('pay', (step) => void paid.push(step.idempotencyKey), { effect: 'retry' });
    return `paid ${sum}`;
  });
  const first = await client({ store: memoryStore() }, [pay]);
  const { sessionId, token } = await started(first, 'pay');
  const answer = (value: number) => ({ sessionId, token, promptId: 'sum~1', response: { value } });
  const state = async () => (await first.request('interaction.getState', { sessionId, token })).result!;
  const told = (count: number) =>
    until('the end', () => {
      const ends = first.messages.filter(({ method }) => method === 'interaction.complete');
      return ends.length >= count ? ends.at(-1) : undefined;
    });
  await first.request('interaction.respond', answer(5));
  await told(1); // and it does not answer that
  const result = { success: true, data: 'paid 5' };
  expect(await state()).toMatchObject({ state: 'completed', result });
  expect((await first.request('interaction.respond', answer(6))).error?.code).toBe(-32003);
  expect((await first.request('interaction.respond', answer(5))).result).toMatchObject({ accepted: true });
  const again = await told(2);
  expect(again.params).toMatchObject({ sessionId, result });
  expect(paid).toHaveLength(1);
  const stranger = await first.request('interaction.getState', { sessionId, token: `${String(token)}x` });
  expect(stranger.error?.code).toBe(-32001);
  first.write({ jsonrpc: '2.0', id: again.id, result: { success: true, finalResult: {} } });
  await until('it is forgotten', async () => !('result' in (await state())));
  expect((await first.request('interaction.respond', answer(5))).error?.code).toBe(-32003);
});

test('a turn that was used is refused, where a store counts the turns; without one it is a fork', async () => {
  const respond = (by: Wire, reference: Json, value: string) =>
    by.request('interaction.respond', { ...reference, response: { value } });
  const counting = await client({ store: memoryStore() });
  const first = await started(counting);
  const { result } = await respond(counting, first, 'x');
  expect((await respond(counting, first, 'y')).error?.code).toBe(-32003);
  expect((await respond(counting, { ...first, token: result!.token }, 'z')).result).toMatchObject({ accepted: true });
  const fork = await started(wire);
  for (const value of ['x', 'y']) expect((await respond(wire, fork, value)).result).toMatchObject({ accepted: true });
});
