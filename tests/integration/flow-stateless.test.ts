// MCP Flow on the stateless wire, by hand and with the client, over HTTP and stdio: advertised as an extension, its codes moved out of
// the range that this era keeps for itself, and nothing ever asked of a client that did not ask first.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from 'mcp-parley';
import { connectFlows } from 'mcp-parley/flow';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import type { HttpFixture } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import type { Answer, Json } from '../helpers/http-wire.ts';
import { stdioWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { MODERN, modern } from '../helpers/mcp-http.ts';

const QUIET = createLog({ level: 'silent' });
const OPTIONS = JSON.stringify({ limits: { attemptsPerQuestion: 2, sessionsPerPrincipal: 6, respondsPerSecond: 4 } });
type Asking = (method: string, params?: Json) => Promise<Answer>;

const WIRES: Record<string, () => { ask: Asking; address: string | ReturnType<typeof fixture> }> = {
  http: () => ({
    address: http.url,
    ask: async (method, params) => (await send(http.url, modern(method, params))).json,
  }),
  stdio: () => ({
    address: command,
    ask: async (method, params) => {
      const { body } = modern(method, params);
      wire.write(body);
      return wire.answerTo(body.id);
    },
  }),
};
const command = fixture('flows', [OPTIONS, '--stdio']);

let http: HttpFixture;
let wire: Wire;
let child: ReturnType<typeof spawn>;

beforeAll(async () => {
  http = await startHttp(fixture('flows', [OPTIONS]));
  child = spawn(command.command, command.args ?? [], { stdio: ['pipe', 'pipe', 'ignore'] });
  wire = stdioWire(child);
});
afterAll(async () => {
  child.kill('SIGKILL');
  await http.stop();
});

describe.each(Object.keys(WIRES))('over %s', (name) => {
  const ask: Asking = (method, params) => WIRES[name]!().ask(method, params);
  const started = async (toolName: string) => {
    const { result } = await ask('interaction.start', { toolName });
    return { sessionId: result?.sessionId as string, result };
  };
  const answer = (sessionId: string, value: unknown, more: Json = {}) =>
    ask('interaction.respond', { sessionId, response: { value }, ...more });

  test('it is an extension, with what it can do', async () => {
    const { result } = await ask('server/discover');
    const { result: declared } = await ask('capabilities');
    const { interactive, version, features } = declared!;
    expect(result?.capabilities).toMatchObject({
      extensions: { 'mcp-parley/flow': { interactive, version, features } },
      experimental: { mcpFlow: { interactive: true, version: '0.1.0' } },
    });
  });

  test.each<[string, number, number, string, () => Promise<Answer>]>([
    ['an unknown session', -31001, -32001, 'SESSION_NOT_FOUND', () => ask('interaction.getState', { sessionId: 'x' })],
    [
      'a session that has expired',
      -31002,
      -32002,
      'SESSION_EXPIRED',
      async () => {
        const { result } = await ask('interaction.start', { toolName: 'two', timeout: 50 });
        const { sessionId } = result!;
        for (;;) {
          const answer = await ask('interaction.getState', { sessionId });
          if (answer.error) return answer;
        }
      },
    ],
    [
      'an answer to something else',
      -31003,
      -32003,
      'INVALID_STATE_TRANSITION',
      async () => answer((await started('two')).sessionId, 'x', { promptId: 'other~1' }),
    ],
    [
      'the last attempt',
      -31004,
      -32004,
      'VALIDATION_FAILED',
      async () => {
        const { sessionId } = await started('number');
        await answer(sessionId, 'x');
        return answer(sessionId, 'x');
      },
    ],
    [
      'a second cancel',
      -31006,
      -32006,
      'ALREADY_CANCELLED',
      async () => {
        const { sessionId } = await started('two');
        await ask('interaction.cancel', { sessionId });
        return ask('interaction.cancel', { sessionId });
      },
    ],
    [
      'a tool that asks nothing',
      -31007,
      -32007,
      'NOT_INTERACTIVE',
      () => ask('interaction.start', { toolName: 'plain' }),
    ],
  ])('the code of %s is moved, and says which it is', async (_, code, meant, flowName, provoke) => {
    const { error } = await provoke();
    expect(error).toMatchObject({ code, data: { flow: { code: meant, name: flowName } } });
  });

  test('the error of a limit says when to come back', async () => {
    const { sessionId } = await started('forever');
    let refused: Answer['error'];
    while (!refused) ({ error: refused } = await answer(sessionId, 'x'));
    await ask('interaction.cancel', { sessionId });
    expect(refused).toMatchObject({
      code: -31010,
      data: { flow: { code: -32000 }, limit: 'respondsPerSecond', retryAfterMs: expect.any(Number) },
    });
  });

  test('bad params and unknown methods keep the codes of the protocol', async () => {
    expect((await ask('interaction.start', {})).error?.code).toBe(-32602);
    expect((await ask('interaction.nothing', {})).error?.code).toBe(-32601);
  });

  test('what comes next is in each answer, steps that take their time included', async () => {
    const { sessionId } = await started('slow');
    const { result } = await answer(sessionId, 300);
    expect(result).toMatchObject({
      accepted: true,
      next: { state: 'waiting_user', method: 'interaction.prompt', prompt: { message: 'And then?' } },
    });
    expect((await answer(sessionId, 'done')).result).toMatchObject({
      next: { state: 'completed', method: 'interaction.complete', result: { success: true, data: 'done' } },
    });
  });

  test('the client plays it to its end', async () => {
    const { address } = WIRES[name]!();
    await using client = await connectFlows(address, { revision: MODERN, log: QUIET });
    const asked: string[] = [];
    const onPrompt = ({ message, type }: { message: string; type: string }) => {
      asked.push(message);
      return type === 'number' ? 20 : 'x';
    };
    expect(await client.run('slow', {}, { onPrompt })).toMatchObject({ result: 'x', success: true, interactive: true });
    expect(asked).toEqual(['How long?', 'And then?']);
  });
});

test('nothing was asked of the client on stdio', () => {
  expect(wire.messages.filter(({ method }) => method !== undefined)).toEqual([]);
});
