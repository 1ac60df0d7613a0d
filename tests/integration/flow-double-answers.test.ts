// An answer belongs to the question that its client was sent, over real wires: a second click never consents to the next question.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { modern, openSession, rpc } from '../helpers/mcp-http.ts';

const QUIET = createLog({ level: 'silent' });
const sends: string[] = [];
const mail = flow({ name: 'mail' }, async (ask) => {
  await ask.confirm('draft', { message: 'Save a draft?', alone: true });
  const isSent = await ask.confirm('send', { message: 'Send it to all 40,000?', by: 'human', alone: true });
  if (isSent) await ask.step('send-it', () => void sends.push('sent'), { effect: 'retry' });
  return isSent;
});

let server: ParleyServer;
let gateway: ReturnType<typeof createGateway>;
const ports: Record<string, number> = {};
let url: string;

beforeAll(async () => {
  const identify = ({ headers }: { headers: Record<string, unknown> }) =>
    (headers['x-user'] as string | undefined) ?? null;
  server = createServer({ name: 'mail', version: '1', log: QUIET, identify });
  serveFlows(server, [mail]);
  // A tool that asks by a form: the gateway keeps its session for clients that speak Flow.
  server.tool('form', {}, async (_, call) => {
    const answers: unknown[] = [];
    for (const message of ['Save?', 'Send it to all?']) {
      const property = { type: 'boolean' as const, title: message };
      const schema = { type: 'object' as const, properties: { ok: property }, required: ['ok'] };
      answers.push(await call.ask.elicit({ message, schema }));
    }
    return JSON.stringify(answers);
  });
  ({ url } = await server.listen({ port: 0 }));
  // The clients here are those of a person, so that the question for a human is one more question.
  const ask = { trust: ['user:ada', 'user:bob'] as const };
  gateway = createGateway({ servers: { mail: { url } }, log: QUIET, startMs: 60_000, identify, ask });
  const front = await gateway.listen({ port: 0 });
  ports['a server'] = Number(new URL(url).port);
  ports['a gateway'] = Number(new URL(front.url).port);
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

const promptsOn = (wire: Wire) => wire.messages.filter(({ method }) => method === 'interaction.prompt');

async function connected(port: number, headers = { 'x-user': 'ada' }) {
  const { wire, socket } = await socketWire(port, headers);
  await wire.initialize();
  const start = async (toolName: string) =>
    (await wire.request('interaction.start', { toolName })).result?.sessionId as string;
  const respond = (sessionId: string, more: Json = {}) =>
    rpc('interaction.respond', { sessionId, response: { value: true }, ...more });
  const acknowledge = async (words: string) => {
    const prompt = await wire.find(words, (message) => JSON.stringify(message.params ?? {}).includes(words));
    wire.write({ jsonrpc: '2.0', id: prompt.id, result: { acknowledged: true } });
  };
  return { wire, socket, start, respond, acknowledge };
}

describe.each(['a server', 'a gateway'])('at %s', (where) => {
  test('two answers in a row answer one question', async () => {
    const { wire, socket, start, respond } = await connected(ports[where]!);
    const sessionId = await start('mail');
    const clicks = [respond(sessionId), respond(sessionId)];
    for (const click of clicks) wire.write(click);
    const [first, second] = await Promise.all(clicks.map(({ id }) => wire.answerTo(id)));
    expect(first!.result).toMatchObject({ accepted: true });
    expect(second!.error?.code ?? second!.result?.accepted).toSatisfy((said) => said === -32003 || said === true);
    await wire.find('the next prompt', (message) =>
      JSON.stringify(message.params ?? {}).includes('Send it to all 40,000?'),
    );
    const { result } = await wire.request('interaction.getState', { sessionId });
    expect(result).toMatchObject({ state: 'waiting_user', currentPrompt: { message: 'Send it to all 40,000?' } });
    expect(sends).toEqual([]);
    socket.close();
  });

  test('another answer to a question that was answered is refused, and an answer after the next prompt is taken', async () => {
    const { wire, socket, start, respond, acknowledge } = await connected(ports[where]!);
    const sessionId = await start('mail');
    const [yes, no] = [respond(sessionId), respond(sessionId, { response: { value: false } })];
    wire.write(yes);
    wire.write(no);
    expect((await wire.answerTo(yes.id)).result).toMatchObject({ accepted: true });
    expect((await wire.answerTo(no.id)).error?.code).toBe(-32003);
    await acknowledge('40,000');
    const last = respond(sessionId, { response: { value: false } });
    wire.write(last);
    expect((await wire.answerTo(last.id)).result).toMatchObject({ accepted: true });
    await wire.find('the end', ({ method }) => method === 'interaction.complete');
    socket.close();
  });

  test('a client that was sent no question has to look first, or to name the prompt', async () => {
    const one = await connected(ports[where]!);
    const sessionId = await one.start('mail');
    const two = await connected(ports[where]!);
    const blind = two.respond(sessionId);
    two.wire.write(blind);
    expect((await two.wire.answerTo(blind.id)).error?.code).toBe(-32003);
    const { result } = await two.wire.request('interaction.getState', { sessionId });
    expect(result).toMatchObject({ currentPrompt: { message: 'Save a draft?' } });
    const seen = two.respond(sessionId);
    two.wire.write(seen);
    expect((await two.wire.answerTo(seen.id)).result).toMatchObject({ accepted: true });
    one.socket.close();
    two.socket.close();
  });
});

test("an answer overtakes the client's word that it has the next question: a consent is not taken for it", async () => {
  const { wire, socket, start, respond, acknowledge } = await connected(ports['a server']!);
  const sessionId = await start('mail');
  const answer = respond(sessionId);
  wire.write(answer);
  expect((await wire.answerTo(answer.id)).result).toMatchObject({ accepted: true });
  await wire.find('the next prompt', (message) => JSON.stringify(message.params ?? {}).includes('40,000'));
  const clicks = [respond(sessionId, { response: { value: false } }), respond(sessionId)];
  for (const click of clicks) wire.write(click);
  expect((await wire.answerTo(clicks[0]!.id)).error?.code).toBe(-32003);
  await wire.answerTo(clicks[1]!.id);
  const { result } = await wire.request('interaction.getState', { sessionId });
  expect(result).toMatchObject({ state: 'waiting_user', currentPrompt: { message: 'Send it to all 40,000?' } });
  await acknowledge('40,000');
  const own = respond(sessionId, { response: { value: false } });
  wire.write(own);
  expect((await wire.answerTo(own.id)).result).toMatchObject({ accepted: true });
  expect(sends).toEqual([]);
  socket.close();
});

test('a tool that the gateway plays by its forms takes two answers in a row for one', async () => {
  const { wire, socket, start, respond } = await connected(ports['a gateway']!);
  const sessionId = await start('form');
  await wire.find('the first prompt', ({ method }) => method === 'interaction.prompt');
  const clicks = [respond(sessionId), respond(sessionId)];
  for (const click of clicks) wire.write(click);
  const [first, second] = await Promise.all(clicks.map(({ id }) => wire.answerTo(id)));
  expect(first!.result).toMatchObject({ accepted: true });
  expect(second!.result).toMatchObject({ accepted: true }); // the same answer to the same question, once more
  await wire.find('the second prompt', () => promptsOn(wire).length === 2);
  const { result } = await wire.request('interaction.getState', { sessionId });
  expect(result).toMatchObject({ state: 'waiting_user', currentPrompt: (promptsOn(wire)[1]!.params as Json).prompt });
  expect(result!.history).toHaveLength(1);
  socket.close();
});

test('when the user answered and what the client says of it are checked, and kept', async () => {
  const { wire, socket, start } = await connected(ports['a server']!);
  const sessionId = await start('mail');
  const respond = (response: Json) => wire.request('interaction.respond', { sessionId, response });
  for (const wrong of [{ timestamp: 'yesterday' }, { timestamp: -1 }, { metadata: 'x' }, { metadata: [1] }]) {
    expect((await respond({ value: true, ...wrong })).error?.code).toBe(-32602);
  }
  const about = { timestamp: 1_700_000_000_123, metadata: { tool: 'mouse' } };
  expect((await respond({ value: true, ...about })).result).toMatchObject({ accepted: true });
  const { result } = await wire.request('interaction.getState', { sessionId });
  expect(result).toMatchObject({ history: [{ response: { value: true, ...about } }] });
  socket.close();
});

test('on 2026-07-28 two answers in a row answer one question', async () => {
  const { wire, socket } = await socketWire(ports['a server']!, { 'x-user': 'bob' });
  const ask = (method: string, params: Json) => {
    const { body } = modern(method, params);
    wire.write(body);
    return wire.answerTo(body.id);
  };
  const started = await ask('interaction.start', { toolName: 'mail' });
  const sessionId = started.result?.sessionId as string;
  const respond = () => ask('interaction.respond', { sessionId, response: { value: true } });
  await Promise.all([respond(), respond()]);
  const { result } = await ask('interaction.getState', { sessionId });
  expect(result).toMatchObject({ state: 'waiting_user', currentPrompt: { message: 'Send it to all 40,000?' } });
  expect(sends).toEqual([]);
  socket.close();
});

/** Requests over HTTP may overtake each other, and what a server says. */
describe.each(['a server', 'a gateway'])('over HTTP at %s', (where) => {
  const at = () => `http://127.0.0.1:${ports[where]}/mcp`;
  const CLICKS = Array.from({ length: 50 }, (_, index) => index);

  test('a second click never consents to the next question, in 50 of 50 sessions', async () => {
    const session = await openSession(at(), { headers: { 'x-user': 'eve' } });
    const stream = await session.stream();
    for (const click of CLICKS) {
      const { result } = (await session.request('interaction.start', { toolName: 'mail' })).json;
      const { sessionId } = result as { sessionId: string };
      const respond = () => session.request('interaction.respond', { sessionId, response: { value: true } });
      const first = respond();
      // The second one starts when the first is on its way, answered, or already followed by the next question, which is not acknowledged.
      const isNext = ({ method, params }: Json) =>
        method === 'interaction.prompt' && (params as Json).sessionId === sessionId;
      if (click % 3 === 1) await first;
      if (click % 3 === 2)
        await stream.until('the prompt', ({ messages }) => messages.some((one) => isNext(one as Json)));
      const { json } = await respond();
      await first;
      expect(json.error?.code ?? json.result?.accepted).toSatisfy((said) => said === -32003 || said === true);
      const state = (await session.request('interaction.getState', { sessionId })).json.result;
      expect(state, `click ${click}`).toMatchObject({
        state: 'waiting_user',
        currentPrompt: { message: 'Send it to all 40,000?' },
      });
      await session.request('interaction.cancel', { sessionId });
    }
    expect(sends).toEqual([]);
    stream.close();
  });

  test('a second click of a client of 2026-07-28 never consents, in 50 of 50 sessions', async () => {
    const ask = async (method: string, params: Json) => {
      const { body, headers } = modern(method, params);
      return (await send(at(), { body, headers: { ...headers, 'x-user': 'eve' } })).json;
    };
    for (const click of CLICKS) {
      const { sessionId } = (await ask('interaction.start', { toolName: 'mail' })).result as { sessionId: string };
      const respond = () => ask('interaction.respond', { sessionId, response: { value: true } });
      await Promise.all([respond(), respond()]);
      const { result } = await ask('interaction.getState', { sessionId });
      expect(result, `click ${click}`).toMatchObject({
        state: 'waiting_user',
        currentPrompt: { message: 'Send it to all 40,000?' },
      });
      await ask('interaction.cancel', { sessionId });
    }
    expect(sends).toEqual([]);
  });
});
