// Every limit of flows, hit over a real wire: what is beyond it is refused, whole, with a code that says which it was; what was there
// before stays as it was, and goes on.
import { afterAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import type { ServeFlowsOptions } from 'mcp-parley/flow';
import type { Answer } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { until } from '../helpers/until.ts';
import type { FlowLimits } from '../../src/flow/session/context/flow-limits.ts';

const QUIET = createLog({ level: 'silent' });
const FLOWS = [
  flow({ name: 'forever' }, async (ask) => {
    for (;;) await ask.custom('more', { message: 'More?' });
  }),
  flow({ name: 'number' }, (ask) => ask.number('n')),
  flow({ name: 'numbers' }, async (ask) => {
    for (let at = 1; ; at++) await ask.number(`n${at}`, { alone: true });
  }),
  flow({ name: 'file' }, async (ask) => (await ask.file('f')).size),
];

const servers: ParleyServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

async function serving(limits: Partial<FlowLimits>, options: ServeFlowsOptions = {}) {
  const server = createServer({ name: 'limits', version: '1', log: QUIET });
  servers.push(server);
  serveFlows(server, FLOWS, { limits, ...options });
  const { url } = await server.listen({ port: 0 });
  return async () => {
    const { wire } = await socketWire(Number(new URL(url).port));
    await wire.initialize();
    const start = (toolName: string, params = {}) => wire.request('interaction.start', { toolName, ...params });
    const begin = async (tool: string, params = {}) => {
      const { result } = await start(tool, params);
      let token = result?.token;
      const about = () => ({ sessionId: result?.sessionId, ...(token !== undefined && { token }) });
      const send = async (method: string, more = {}) => {
        const answer = await wire.request(method, { ...about(), ...more });
        token = answer.result?.token ?? token;
        return answer;
      };
      return {
        answer: (value: unknown, promptId?: string) =>
          send('interaction.respond', { response: { value }, ...(promptId !== undefined && { promptId }) }),
        cancel: () => send('interaction.cancel'),
        state: async () => {
          const { result: view, error } = await send('interaction.getState');
          return error?.code ?? view?.state;
        },
      };
    };
    return { wire, start, begin };
  };
}

const refusedBy = (limit: string) => ({ error: { code: -32000, data: { limit, retryAfterMs: expect.any(Number) } } });
const accepted = { result: { accepted: true } };
const count = (answers: Answer[]) => answers.filter(({ error }) => error === undefined).length;

describe('no more than so many', () => {
  test('answers in a second, of one session', async () => {
    const connect = await serving({ respondsPerSecond: 3 });
    const { begin } = await connect();
    const [one, other] = [await begin('forever'), await begin('forever')];
    const answers: Answer[] = [];
    let turn = 0;
    const next = async () => {
      const answer = await one.answer('x', turn === 0 ? 'more~1' : `more#${turn + 1}~1`);
      if (!answer.error) turn++;
      return answer;
    };
    // A second may end in between, and then another three are taken.
    for (let at = 0; at < 30 && !answers.at(-1)?.error; at++) answers.push(await next());
    expect(count(answers)).toBeGreaterThanOrEqual(3);
    for (const answer of answers) if (answer.error) expect(answer).toMatchObject(refusedBy('respondsPerSecond'));
    expect(await other.answer('x')).toMatchObject(accepted);
    const { error } = answers.find((answer) => answer.error)!;
    const { retryAfterMs } = error!.data as { retryAfterMs: number };
    expect(retryAfterMs).toBeLessThanOrEqual(1000);
    await until('it is taken again', async () => (await next()).error === undefined);
  });

  test('sessions of one owner, and in all, though they come at once', async () => {
    const connect = await serving({ sessionsPerPrincipal: 3, sessions: 5 });
    const [alice, bob] = [await connect(), await connect()];
    const first = await alice.begin('forever');
    const starts = await Promise.all(Array.from({ length: 6 }, () => alice.start('forever')));
    expect(count(starts)).toBe(2);
    for (const start of starts) if (start.error) expect(start).toMatchObject(refusedBy('sessionsPerPrincipal'));
    const others = await Promise.all(Array.from({ length: 3 }, () => bob.start('forever')));
    expect(count(others)).toBe(2);
    expect(others.find(({ error }) => error)).toMatchObject(refusedBy('sessions'));
    await first.cancel();
    expect((await bob.start('forever')).error).toBeUndefined();
  });

  test('questions of one session', async () => {
    const { begin } = await (await serving({ prompts: 3, respondsPerSecond: 100 }))();
    const session = await begin('forever');
    for (let at = 0; at < 3; at++) expect(await session.answer('x')).toMatchObject(accepted);
    expect(await session.state()).toBe('error');
    expect((await session.answer('x')).error?.code).toBe(-32003);
  });

  test('attempts at one question', async () => {
    const { begin } = await (await serving({ attemptsPerQuestion: 2 }))();
    const session = await begin('number');
    expect((await session.answer('x')).result).toMatchObject({ accepted: false });
    expect((await session.answer('x')).error).toMatchObject({ code: -32004 });
    expect(await session.state()).toBe('error');
  });

  test('attempts in all', async () => {
    const { begin } = await (await serving({ attempts: 2, respondsPerSecond: 100 }))();
    const session = await begin('numbers');
    for (let at = 0; at < 2; at++) {
      expect((await session.answer('x')).result).toMatchObject({ accepted: false });
      expect(await session.answer(at)).toMatchObject(accepted);
    }
    expect((await session.answer('x')).error).toMatchObject({ code: -32004 });
    expect(await session.state()).toBe('error');
  });
});

describe('no longer than', () => {
  test('it may last in all, however busy', async () => {
    const { begin } = await (
      await serving({ durationMs: 300, respondsPerSecond: 1e6, prompts: 1e6, journalBytes: 1e9 })
    )();
    const session = await begin('forever');
    let code: number | undefined;
    while (code === undefined) code = (await session.answer('x')).error?.code;
    expect(code).toBe(-32002);
  });

  test('each may wait: one is over, the other still there', async () => {
    const { begin } = await (await serving({}))();
    const [short, long] = [await begin('forever', { timeout: 100 }), await begin('forever', { timeout: 60_000 })];
    await until('the first to be over', async () => (await short.state()) === -32002);
    expect((await short.answer('x')).error?.code).toBe(-32002);
    expect(await long.answer('x')).toMatchObject(accepted);
  });
});

test('before it is over its client is warned, once; looking at it is not a sign of life, asking for more time is', async () => {
  const { wire, start, begin } = await (await serving({}))();
  const { result } = await start('forever', { timeout: 1000 });
  const { sessionId } = result!;
  const isWarning = ({ method, params }: Answer) =>
    method === 'interaction.timeoutWarning' && params?.sessionId === sessionId;
  const extended = (await wire.request('interaction.extend', { sessionId })).result!;
  const { params } = await wire.find('a warning', isWarning);
  expect(params).toEqual({ sessionId, expiresAt: extended.expiresAt, remainingMs: expect.any(Number) });
  expect(params?.remainingMs).toBeLessThanOrEqual(200);
  const look = () => wire.request('interaction.getState', { sessionId });
  await until('it to be over, though it is looked at', async () => (await look()).error?.code === -32002);
  expect(wire.messages.filter(isWarning)).toHaveLength(1);
  expect(await (await begin('forever')).state()).toBe('waiting_user');
});

describe('no more bytes than', () => {
  test('an answer may have', async () => {
    const { begin, start } = await (await serving({ answerBytes: 1000 }))();
    const session = await begin('forever');
    for (const value of ['x'.repeat(1001), { a: ['x'.repeat(600), 'x'.repeat(600)] }]) {
      expect((await session.answer(value)).error).toMatchObject({ code: -32004 });
      expect((await start('forever', { initialParams: { value } })).error).toMatchObject({ code: -32004 });
    }
    expect(await session.state()).toBe('waiting_user');
    expect(await session.answer('x'.repeat(900))).toMatchObject(accepted);
  });

  test('a file may have', async () => {
    const { begin } = await (await serving({ fileBytes: 1000 }))();
    const session = await begin('file');
    const file = (bytes: number) => ({ name: 'f', mimeType: 'x/y', data: Buffer.alloc(bytes).toString('base64') });
    for (const bytes of [1001, 1010, 5000]) {
      expect((await session.answer(file(bytes))).error, String(bytes)).toMatchObject({ code: -32004 });
    }
    expect(await session.answer(file(1000))).toMatchObject(accepted);
  });

  test('a journal may have', async () => {
    const { begin } = await (await serving({ journalBytes: 2000 }))();
    const session = await begin('forever');
    expect(await session.answer('x'.repeat(1500))).toMatchObject(accepted);
    expect(await session.answer('x'.repeat(1500))).toMatchObject({
      error: { code: -32000, data: { limit: 'journalBytes' } },
    });
    expect(await session.state()).toBe('waiting_user');
    expect(await session.answer('x')).toMatchObject(accepted);
  });

  test('a token may have', async () => {
    const { begin } = await (await serving({}, { tokens: 'signed', keys: ['the key of this test'] }))();
    const session = await begin('forever');
    expect(await session.answer('x'.repeat(30_000))).toMatchObject(accepted);
    expect(await session.answer('x'.repeat(30_000))).toMatchObject({
      error: { code: -32000, data: { limit: 'tokenBytes' } },
    });
    expect(await session.answer('x')).toMatchObject(accepted);
  });
});
