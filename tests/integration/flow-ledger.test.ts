// Demands F-10, F-33, F-36 and F-94 of the Flow document, clause by clause, in raw JSON: at a server, through a gateway, and in sessions
// that the gateway itself plays.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { connectFlows, flow, serveFlows } from 'mcp-parley/flow';
import type { Answer, Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { rpc } from '../helpers/mcp-http.ts';

const QUIET = createLog({ level: 'silent' });
const FLOWS = [
  flow({ name: 'two' }, async (ask) => {
    const name = await ask.text('name', { message: 'Name?', alone: true });
    return { name, city: await ask.text('city', { message: 'City?', alone: true }) };
  }),
  flow({ name: 'works' }, async (ask) => {
    await ask.text('name', { message: 'Name?', alone: true });
    await ask.step('work', (step) => step.progress(2, 5));
    return ask.text('city', { message: 'City?', alone: true, deliver: 'continue' });
  }),
  flow({ name: 'busy' }, async (ask) => {
    await ask.text('name', { message: 'Name?', alone: true });
    return ask.step(
      'work',
      (step) =>
        new Promise<never>((_, reject) => {
          step.signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    );
  }),
  flow({ name: 'forever' }, async (ask) => {
    for (;;) await ask.text('again', { message: 'Again?', alone: true });
  }),
];

let server: ParleyServer;
let gateway: ReturnType<typeof createGateway>;
const ports: Record<string, number> = {};

beforeAll(async () => {
  server = createServer({ name: 'flows', version: '1', log: QUIET });
  serveFlows(server, FLOWS, { limits: { prompts: 3 } });
  server.tool('form', {}, async (_, call) => {
    const schema = { type: 'object' as const, properties: { name: { type: 'string' as const } }, required: ['name'] };
    const answers = [];
    for (const message of ['Name?', 'City?']) answers.push(await call.ask.elicit({ message, schema }));
    return JSON.stringify(answers);
  });
  const { url } = await server.listen({ port: 0 });
  gateway = createGateway({ servers: { flows: { url } }, log: QUIET, startMs: 60_000 });
  ports['a server'] = Number(new URL(url).port);
  ports['a gateway'] = Number(new URL((await gateway.listen({ port: 0 })).url).port);
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

const isPrompt = ({ method }: Answer) => method === 'interaction.prompt' || method === 'interaction.continue';

async function started(where: string, toolName: string) {
  const { wire, socket } = await socketWire(ports[where]!);
  await wire.initialize();
  const { result } = await wire.request('interaction.start', { toolName });
  const { sessionId, initialPrompt } = result as { sessionId: string; initialPrompt?: Json };
  if (!initialPrompt) await wire.find('the first prompt', isPrompt);
  return { wire, sessionId, close: () => socket.close() };
}

const acknowledge = (wire: Wire, { id }: Answer) => wire.write({ jsonrpc: '2.0', id, result: { acknowledged: true } });

/** Each with one field of a wrong type; `sessionId` is added where it is not the wrong one. */
const WRONG: Record<string, Json[]> = {
  'interaction.start': [
    {},
    { toolName: 5 },
    { toolName: 'two', initialParams: 'x' },
    { toolName: 'two', initialParams: [] },
    { toolName: 'two', context: 'x' },
    { toolName: 'two', timeout: '5' },
    { toolName: 'two', timeout: -1 },
  ],
  'interaction.respond': [
    { sessionId: 5, response: { value: 'x' } },
    {},
    { response: 'x' },
    { response: [] },
    { response: {} },
    { response: { value: 'x', timestamp: 'yesterday' } },
    { response: { value: 'x', timestamp: -1 } },
    { response: { value: 'x', metadata: 'x' } },
    { response: { value: 'x', metadata: [] } },
    { response: { value: 'x' }, promptId: 7 },
  ],
  'interaction.continue': [
    { sessionId: 5 },
    { nextPrompt: 'x' },
    { nextPrompt: [] },
    { nextPrompt: { type: 5, message: 'x' } },
    { nextPrompt: { type: 'essay', message: 'x' } },
    { nextPrompt: { type: 'text', message: 7 } },
    { nextPrompt: { type: 'choice', message: 'x', choices: 'a' } },
    { nextPrompt: { type: 'choice', message: 'x', choices: ['a'] } },
    { nextPrompt: { type: 'text', message: 'x', validation: 'y' } },
    { progress: 'x' },
    { progress: { current: '1', total: 2 } },
    { progress: { current: 1, total: '2' } },
    { progress: { current: 1, total: 2, message: 3 } },
  ],
  'interaction.complete': [
    { sessionId: 5, result: { success: true } },
    {},
    { result: 'x' },
    { result: { success: 'yes' } },
    { result: { success: true }, summary: 5 },
  ],
  'interaction.cancel': [{ sessionId: 5 }, { reason: 5 }],
  'interaction.getState': [{ sessionId: 5 }],
  'interaction.back': [{ sessionId: 5 }, { key: 5 }],
  'interaction.edit': [{ sessionId: 5, key: 'name' }, {}, { key: 5 }],
  'interaction.extend': [{ sessionId: 5 }],
};

const CASES = Object.entries(WRONG).flatMap(([method, all]) => all.map((params) => [method, params] as const));

describe.each(['a server', 'a gateway'])(
  'F-10 at %s: a field of a wrong type gets -32602, and changes nothing',
  (where) => {
    test.each(CASES)('%s %j', async (method, params) => {
      const { wire, sessionId, close } = await started(where, 'two');
      const sent = method === 'interaction.start' ? params : { sessionId, ...params };
      const { error } = await wire.request(method, sent);
      expect(error?.code).toBe(-32602);
      const { result } = await wire.request('interaction.getState', { sessionId });
      expect(result).toMatchObject({ state: 'waiting_user', history: [], currentPrompt: { message: 'Name?' } });
      close();
    });
  },
);

describe('F-10 in a session that the gateway plays: a field of a wrong type gets -32602, and changes nothing', () => {
  const own = CASES.filter(([method]) =>
    ['interaction.respond', 'interaction.cancel', 'interaction.getState'].includes(method),
  );
  test.each(own)('%s %j', async (method, params) => {
    const { wire, sessionId, close } = await started('a gateway', 'form');
    expect((await wire.request(method, { sessionId, ...params })).error?.code).toBe(-32602);
    const { result } = await wire.request('interaction.getState', { sessionId });
    expect(result).toMatchObject({ state: 'waiting_user', history: [] });
    close();
  });
});

describe.each([
  ['a server', 'two'],
  ['a gateway', 'two'],
  ['a gateway', 'form'],
])('F-33 at %s, %s', (where, tool) => {
  test('what the client says of an answer is taken and kept: value, timestamp, metadata', async () => {
    const { wire, sessionId, close } = await started(where, tool);
    const response = { value: 'Ada', timestamp: 1_700_000_000_123, metadata: { source: 'keyboard' } };
    const { result } = await wire.request('interaction.respond', { sessionId, response });
    expect(result).toMatchObject({ accepted: true, validation: { valid: true } });
    const state = (await wire.request('interaction.getState', { sessionId })).result as { history: Json[] };
    expect(state.history.map((turn) => turn.response)).toEqual([response]);
    close();
  });

  test('timestamp and metadata may be left out', async () => {
    const { wire, sessionId, close } = await started(where, tool);
    const { result } = await wire.request('interaction.respond', { sessionId, response: { value: 'Ada' } });
    expect(result).toMatchObject({ accepted: true });
    close();
  });
});

/** A server by hand on a WebSocket; everything that the client sends is kept as it came. */
async function byHand(answers: Record<string, (params: Json, send: (message: Json) => void) => Json>) {
  const seen: Answer[] = [];
  const hand = new WebSocketServer({ port: 0, handleProtocols: () => 'mcp' });
  hand.on('connection', (socket) => {
    const send = (message: Json) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString('utf8')) as Answer;
      seen.push(message);
      if (message.method === undefined || message.id === undefined) return;
      const answer = answers[message.method]?.(message.params ?? {}, send);
      send(
        answer ? { id: message.id, result: answer } : { id: message.id, error: { code: -32601, message: 'Unknown' } },
      );
    });
  });
  await new Promise((resolve) => hand.once('listening', resolve));
  const { port } = hand.address() as { port: number };
  const close = () => {
    for (const client of hand.clients) client.terminate();
    hand.close();
  };
  return { url: `ws://127.0.0.1:${port}`, seen, close };
}

const prompt = (message: string, promptId: string) => ({ type: 'text', message, promptId });

async function playedByHand() {
  const hand = await byHand({
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: {},
      serverInfo: { name: 'hand', version: '1' },
    }),
    capabilities: () => ({ interactive: true, version: '0.1.0', features: {} }),
    'interaction.start': () => ({ sessionId: 's', state: 'idle', initialPrompt: prompt('Name?', 'name~1') }),
    'interaction.respond': ({ response }, send) => {
      const sessionId = 's';
      setImmediate(() => {
        if ((response as Json).value === 'Ada') {
          send({ id: 'bare', method: 'interaction.continue', params: { sessionId } });
          const progress = { current: 1, total: 2 };
          send({ id: 'progress', method: 'interaction.continue', params: { sessionId, progress } });
          const nextPrompt = prompt('City?', 'city~1');
          send({ id: 'both', method: 'interaction.continue', params: { sessionId, nextPrompt, progress } });
        } else
          send({
            id: 'end',
            method: 'interaction.complete',
            params: { sessionId, result: { success: true, data: { a: 1 } } },
          });
      });
      return { accepted: true, validation: { valid: true } };
    },
  });
  const asked: unknown[] = [];
  await using client = await connectFlows(hand.url, { log: QUIET, revision: '2025-11-25' });
  const outcome = await client.run(
    'x',
    {},
    {
      onPrompt: ({ message }, { progress }) => {
        asked.push([message, progress]);
        return message === 'Name?' ? 'Ada' : 'Oslo';
      },
    },
  );
  hand.close();
  return { outcome, asked, seen: hand.seen };
}

test('F-33: the client sends sessionId and response, with value, timestamp and metadata', async () => {
  const { seen } = await playedByHand();
  const responds = seen.filter(({ method }) => method === 'interaction.respond').map(({ params }) => params);
  const metadata = expect.any(Object) as unknown;
  expect(responds).toMatchObject([
    { sessionId: 's', response: { value: 'Ada', timestamp: expect.any(Number), metadata } },
    { sessionId: 's', response: { value: 'Oslo', timestamp: expect.any(Number), metadata } },
  ]);
});

test('F-36: the client acknowledges every continue, with and without a prompt, and asks what it brings', async () => {
  const { seen, asked, outcome } = await playedByHand();
  for (const id of ['bare', 'progress', 'both']) {
    expect(seen).toContainEqual({ jsonrpc: '2.0', id, result: { acknowledged: true } });
  }
  expect(asked).toEqual([
    ['Name?', undefined],
    ['City?', { current: 1, total: 2 }],
  ]);
  expect(outcome).toMatchObject({ success: true, result: { a: 1 } });
});

describe.each(['a server', 'a gateway'])('F-36 at %s', (where) => {
  test('a tool that goes on says how far it is without a prompt, and brings the next one with continue', async () => {
    const { wire, sessionId, close } = await started(where, 'works');
    await wire.request('interaction.respond', { sessionId, response: { value: 'Ada' } });
    const isContinue = ({ method }: Answer) => method === 'interaction.continue';
    await wire.find('the next prompt', (message) => isContinue(message) && message.params?.nextPrompt !== undefined);
    const told = wire.messages.filter(isContinue);
    expect(told.map(({ params }) => params)).toEqual([
      { sessionId, progress: { current: 2, total: 5 } },
      { sessionId, nextPrompt: expect.objectContaining({ type: 'text', message: 'City?' }) },
    ]);
    expect(told.every(({ id }) => id !== undefined)).toBe(true);
    for (const one of told) acknowledge(wire, one);
    close();
  });

  test.each<[string, Json, Json]>([
    ['nothing', {}, { state: 'processing' }],
    ['progress alone', { progress: { current: 1, total: 2 } }, { state: 'processing' }],
    [
      'a prompt alone',
      { nextPrompt: { type: 'text', message: 'Else?' } },
      { state: 'waiting_user', currentPrompt: { type: 'text', message: 'Else?' } },
    ],
    [
      'both',
      { nextPrompt: { type: 'text', message: 'Else?' }, progress: { current: 1, total: 2 } },
      { state: 'waiting_user', currentPrompt: { type: 'text', message: 'Else?' } },
    ],
  ])('continue with %s, while the tool is at work, is acknowledged', async (_, more, state) => {
    const { wire, sessionId, close } = await started(where, 'busy');
    await wire.request('interaction.respond', { sessionId, response: { value: 'Ada' } });
    expect(await wire.request('interaction.continue', { sessionId, ...more })).toMatchObject({
      result: { acknowledged: true },
    });
    expect((await wire.request('interaction.getState', { sessionId })).result).toMatchObject(state);
    close();
  });
});

describe.each(['a server', 'a gateway'])('F-94 at %s', (where) => {
  test('a tool that asks for ever is stopped: three prompts are sent, not a fourth, and the session is an error', async () => {
    const { wire, sessionId, close } = await started(where, 'forever');
    for (let count = 1; count <= 3; count++) {
      if (count > 1) await wire.find(`prompt ${count}`, () => wire.messages.filter(isPrompt).length === count - 1);
      wire.write(rpc('interaction.respond', { sessionId, response: { value: 'x' } }));
    }
    const end = await wire.find('the end', ({ method }) => method === 'interaction.complete');
    expect(end.params).toMatchObject({ sessionId, result: { success: false, error: { message: expect.any(String) } } });
    expect(wire.messages.filter(isPrompt)).toHaveLength(2); // and the one with which it began
    const { result } = await wire.request('interaction.getState', { sessionId });
    expect(result).toMatchObject({ state: 'error' });
    const late = await wire.request('interaction.respond', {
      sessionId,
      response: { value: 'x' },
      promptId: 'again#4~1',
    });
    expect(late.error?.code).toBe(-32003);
    close();
  });

  test('prompts of the owner count as well: the fourth is refused, and not put', async () => {
    const { wire, sessionId, close } = await started(where, 'busy');
    await wire.request('interaction.respond', { sessionId, response: { value: 'Ada' } });
    const put = () =>
      wire.request('interaction.continue', { sessionId, nextPrompt: { type: 'text', message: 'Else?' } });
    for (let count = 2; count <= 3; count++) {
      expect((await put()).result).toEqual({ acknowledged: true });
      await wire.request('interaction.respond', { sessionId, response: { value: 'x' } });
    }
    expect((await put()).error).toMatchObject({ code: -32000, data: { limit: 'prompts' } });
    expect((await wire.request('interaction.getState', { sessionId })).result).toMatchObject({ state: 'processing' });
    close();
  });
});
