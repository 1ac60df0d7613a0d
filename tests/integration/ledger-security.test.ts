// The requirements of docs/evidence/attacks.md that no other test attacks.
import { createServer as createHttpServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { connect as connectSocket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Gateway, ParleyServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { modern, openSession } from '../helpers/mcp-http.ts';
import { until, within } from '../helpers/until.ts';

const said: string[] = [];
const log = createLog({ level: 'debug', write: (line) => void said.push(line) });
let paid = 0;
const pay = flow({ name: 'pay', description: 'Pay' }, async (ask) => {
  const amount = await ask.number('amount', { message: 'How much?', min: 1, max: 10 });
  const code = await ask.text('code', { message: 'Code?', pattern: '^(a+)+$', max: 100 });
  await ask.step('pay', () => void paid++);
  return { amount, code };
});

let server: ParleyServer;
let gateway: Gateway;
let [direct, through]: [string, string] = ['', ''];
beforeAll(async () => {
  server = createServer({ name: 'bank', version: '1', log });
  serveFlows(server, [pay]);
  ({ url: direct } = await server.listen({ port: 0 }));
  gateway = createGateway({ servers: { bank: direct }, log });
  ({ url: through } = await gateway.listen({ port: 0 }));
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

const at = (where: string): string => (where === 'a server' ? direct : through);

async function started(where: string) {
  const session = await openSession(at(where));
  const { json } = await session.request('interaction.start', { toolName: 'pay' });
  const { sessionId } = json.result as unknown as { sessionId: string };
  const answer = async (value: unknown) =>
    (await session.request('interaction.respond', { sessionId, response: { value } })).json as unknown as Json;
  return { session, sessionId, answer };
}

describe.each(['a server', 'a gateway'])('sessions of %s', (where) => {
  test('F-86: ids cannot be guessed: all differ, in more than 128 bits, at every place', async () => {
    const session = await openSession(at(where));
    const ids: string[] = [];
    for (let count = 0; count < 60; count++) {
      const { json } = await session.request('interaction.start', { toolName: 'pay' });
      const { sessionId } = json.result as unknown as { sessionId: string };
      ids.push(sessionId.replace('session_', ''));
      await session.request('interaction.cancel', { sessionId });
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(Math.min(...ids.map(({ length }) => length))).toBeGreaterThanOrEqual(22);
    const tails = ids.map((id) => id.slice(-22));
    for (let place = 0; place < 21; place++) expect(new Set(tails.map((id) => id[place])).size).toBeGreaterThan(10);
    expect(tails).not.toEqual(tails.toSorted());
  });

  test('F-88, F-89, F-90: bad answers are refused soon, and nothing is done with them', async () => {
    const evil = ['\u0000', `${'a'.repeat(60)}!`, 'x'.repeat(3_000_000), '$(touch /tmp/x)', "' OR 1=1 --"];
    const bad: unknown[] = [0, 11, '5', null, { $gt: '' }, true, JSON.parse('{"__proto__":{"value":5}}')];
    for (const [index, value] of bad.entries()) {
      const before = paid;
      const { session, answer } = await started(where);
      await within('the refusal', answer(value));
      await answer(5);
      await within('the refusal', answer(evil[index % evil.length]));
      expect((await session.request('ping')).status).toBe(200);
      expect(paid).toBe(before);
      await answer('aaa'); // the second question is still open: no bad answer was taken for the first one
      await until('the payment', () => paid === before + 1);
    }
  });

  test('F-95: what people answer is in no log line, at any level', async () => {
    const { answer, session, sessionId } = await started(where);
    await answer(7);
    await answer('SECRET-MARKER-4711');
    await answer('aaa');
    await session.request('interaction.getState', { sessionId });
    log.debug({}, 'the.log-works');
    expect(said.join('')).toContain('the.log-works');
    expect(said.join('')).not.toContain('SECRET-MARKER-4711');
  });
});

test('A-47: without a host, nobody reaches it from another machine', async () => {
  const port = Number(new URL(through).port);
  const others = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ internal, family }) => !internal && family === 'IPv4'),
  );
  for (const { address } of others) {
    const socket = connectSocket({ host: address, port });
    const [error] = (await within('the refusal', once(socket, 'error'))) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  }
  expect(new URL(through).hostname).toBe('127.0.0.1');
});

test('A-100: a server learns nothing of what clients say to another one, nor who they are', async () => {
  const heard: string[] = [];
  const spy = createHttpServer((request, response) => {
    const parts: Buffer[] = [];
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        heard.push(JSON.stringify(request.headers) + Buffer.concat(parts).toString());
        response.writeHead(404).end();
      });
  }).listen(0, '127.0.0.1');
  await once(spy, 'listening');
  const { port } = spy.address() as { port: number };
  const two = createGateway({
    servers: { bank: direct, spy: `http://127.0.0.1:${port}/mcp` },
    log,
    startMs: 2000,
    identify: () => ({ principal: 'ann-the-user' }),
  });
  const { url } = await two.listen({ port: 0 });
  const request = modern('tools/call', { name: 'bank__pay', arguments: { note: 'FOR-THE-BANK' } });
  await send(url, { ...request, headers: { ...request.headers, authorization: 'Bearer TOKEN-OF-ANN' } });
  await send(url, modern('tools/list'));
  expect(heard.length).toBeGreaterThan(0);
  expect(heard.join('')).not.toMatch(/FOR-THE-BANK|TOKEN-OF-ANN|ann-the-user|bank__/);
  await two.close();
  spy.close();
});
