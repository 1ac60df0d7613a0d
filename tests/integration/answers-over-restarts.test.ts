// An answer counts once, also if the gateway is stopped and started again between its two arrivals: sessions and keys outlive the
// process, questions do not.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { expect, test } from 'vitest';
import { ROOT } from '../helpers/files.ts';
import { send } from '../helpers/http-wire.ts';
import type { Answer, Stream } from '../helpers/http-wire.ts';
import { elicits, modern, openSession } from '../helpers/mcp-http.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { freePort } from '../helpers/server-process.ts';

const { newHome, start } = homesOfTests();
const SERVER = join(ROOT, 'tests', 'fixtures', 'servers', 'pays-when-told.mjs');
const YES = { action: 'accept', content: { sure: true } };

async function serve() {
  const home = newHome();
  const ledger = join(home.path, 'paid.txt');
  const port = await freePort();
  const pays = { command: process.execPath, args: [SERVER, ledger] };
  const path = home.write('parley.config.json', {
    mcpServers: { pays },
    listen: { port },
    ask: { channels: ['relay'] },
  });
  const begin = async () => {
    const parley = start(home, ['serve', path, '--open']);
    await parley.url();
    return parley;
  };
  let parley = await begin();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    paid: () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []),
    async restart() {
      await parley.stop('SIGTERM');
      parley = await begin();
    },
  };
}

const textOf = ({ result }: Answer): string => String(result?.content?.[0]?.text);

async function questionOf(stream: Stream): Promise<string> {
  const isQuestion = ({ method }: { method?: string }): boolean => method === 'elicitation/create';
  await stream.until('the question', ({ messages }) => messages.some(isQuestion));
  return String(stream.messages.find(isQuestion)!.id);
}

test('the answer of a model, with the handle of a question that was answered before the restart', async () => {
  const gateway = await serve();
  const session = await openSession(gateway.url);
  const asked = textOf((await session.call('pay', { what: 'tea' })).json);
  const [handle] = /ask_[\w-]+/.exec(asked)!;
  const answer = () => session.call('parley_answer', { handle, answer: { sure: true } });
  expect(textOf((await answer()).json)).toBe('paid for tea');
  await gateway.restart();
  expect(textOf((await answer()).json)).toContain('This handle has no open question');
  expect(gateway.paid()).toEqual(['tea']);
});

test('the handle of an earlier process, of a client with forms: it is told so, and not that there is no such tool', async () => {
  const gateway = await serve();
  const before = await openSession(gateway.url);
  const [handle] = /ask_[\w-]+/.exec(textOf((await before.call('pay', { what: 'tea' })).json))!;
  await before.call('parley_answer', { handle, answer: { sure: true } });
  await gateway.restart();
  const session = await openSession(gateway.url, { capabilities: { elicitation: {} } });
  const answered = (await session.call('parley_answer', { handle, answer: { sure: true } })).json;
  expect(textOf(answered)).toContain('This handle has no open question');
  expect(textOf(answered)).toContain('the gateway restarted');
  const other = (await session.call('parley_answer', { handle: 'something else' })).json;
  expect(other.error?.message).toBe('Unknown tool: parley_answer');
  expect(gateway.paid()).toEqual(['tea']);
});

test('the retry of a stateless client, with a state that was used before the restart', async () => {
  const gateway = await serve();
  const params = { name: 'pay', arguments: { what: 'tea' } };
  const { json } = await send(gateway.url, modern('tools/call', params, elicits));
  const { requestState, inputRequests } = json.result as unknown as { requestState: string; inputRequests: object };
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, YES]));
  const retry = () => send(gateway.url, modern('tools/call', { ...params, requestState, inputResponses }, elicits));
  expect(textOf((await retry()).json)).toBe('paid for tea');
  await gateway.restart();
  expect(textOf((await retry()).json)).toContain('This question is no longer open');
  expect(gateway.paid()).toEqual(['tea']);
});

test('the response of a client with forms: it never answers the next question', async () => {
  const gateway = await serve();
  const session = await openSession(gateway.url, { capabilities: { elicitation: {} } });
  const first = await session.callStream('pay', { what: 'tea' });
  const id = await questionOf(first);
  const answer = () => session.post({ jsonrpc: '2.0', id, result: YES });
  await answer();
  await first.until('the result', ({ messages }) => messages.some((one) => textOf(one) === 'paid for tea'));
  await gateway.restart();
  const second = await session.callStream('pay', { what: 'a house' });
  const next = await questionOf(second);
  await answer(); // of the first question
  await session.post({ jsonrpc: '2.0', id: next, result: { action: 'decline' } });
  await second.until('the result', ({ messages }) => messages.some(({ result }) => result));
  expect(gateway.paid()).toEqual(['tea']);
});

test('the handle of an earlier process of a server of flows, of a client with forms: it is not told that there is no such tool', async () => {
  const server = createServer({ name: 'shop', version: '1', log: createLog({ level: 'silent' }) });
  serveFlows(server, [flow({ name: 'order' }, async (ask) => ask.text('what'))]);
  const { url } = await server.listen({ port: 0 });
  const session = await openSession(url, { capabilities: { elicitation: {} } });
  const answered = (await session.call('parley_answer', { handle: 'ask_of-another-process' })).json;
  expect(answered.error).toBeUndefined();
  expect(textOf(answered)).toContain('the gateway restarted');
  await server.close();
});
