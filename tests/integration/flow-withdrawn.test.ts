// A question that is not open any more is taken away from the client that shows it, over real wires: its time was over, it lost a race, or
// somebody else has answered or cancelled. Clients that nobody can tell things look by themselves, when the server says that it is worth it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { connectFlows, flow, serveFlows } from 'mcp-parley/flow';
import { send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { MODERN, modern } from '../helpers/mcp-http.ts';

const QUIET = createLog({ level: 'silent' });
const PATIENT = { timeout: '1h' } as const;
let letGo: (worked: string) => void;
let work: Promise<string>;
const hold = () => void (work = new Promise((resolve) => (letGo = resolve)));

const channel = {
  message: 'Which channel?',
  alone: true,
  default: 'slack',
  timeout: '300ms',
  onTimeout: 'default',
} as const;
const FLOWS = [
  flow({ name: 'late', ...PATIENT }, async (ask) => {
    const said = await ask.text('channel', channel);
    return `${said}, ${await ask.text('name', { message: 'Who?', alone: true })}`;
  }),
  flow({ name: 'race', ...PATIENT }, async (ask) => {
    const asked = ask.text('channel', { message: 'Which channel?', alone: true });
    const said = (await Promise.race([asked, ask.sleep('wait', '300ms')])) ?? 'slack';
    return `${said}, ${await ask.text('name', { message: 'Who?', alone: true })}`;
  }),
  flow({ name: 'step', ...PATIENT }, async (ask) => {
    const asked = ask.text('channel', { message: 'Which channel?', alone: true });
    const said = await Promise.race([asked, ask.step('work', () => work)]);
    return `${said}, ${await ask.text('name', { message: 'Who?', alone: true })}`;
  }),
  flow({ name: 'work', ...PATIENT }, async (ask) => {
    const said = await ask.text('channel', channel);
    await ask.step('work', () => work);
    return `${said}, ${await ask.text('name', { message: 'Who?', alone: true })}`;
  }),
  flow({ name: 'short', timeout: '300ms' }, async (ask) => ask.text('name', { message: 'Which channel?' })),
  flow({ name: 'plain', ...PATIENT }, async (ask) => ask.text('name', { message: 'Who?' })),
];

let server: ParleyServer;
let sessions: ReturnType<typeof serveFlows>;
let gateway: ReturnType<typeof createGateway>;
const urls: Record<string, string> = {};

beforeAll(async () => {
  const identify = ({ headers }: { headers: Record<string, unknown> }) =>
    (headers['x-user'] as string | undefined) ?? null;
  server = createServer({ name: 'flows', version: '1', log: QUIET, identify });
  sessions = serveFlows(server, FLOWS);
  urls.directly = (await server.listen({ port: 0 })).url;
  gateway = createGateway({ servers: { flows: { url: urls.directly } }, log: QUIET, startMs: 60_000, identify });
  urls['through a gateway'] = (await gateway.listen({ port: 0 })).url;
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

const portOf = (way: string) => Number(new URL(urls[way]!).port);

/** Plays a flow whose first question is answered only once it is taken away. */
async function played(name: string, address: string, revision: string, onWithdrawn = () => {}) {
  await using client = await connectFlows(address, { log: QUIET, revision });
  const feedback: string[] = [];
  const withdrawn: string[] = [];
  const outcome = await client.run(
    name,
    {},
    {
      onFeedback: (text) => void feedback.push(text),
      onPrompt({ message }, { signal }) {
        if (message === 'Who?') return 'Ada';
        if (name === 'step') setImmediate(() => letGo('slack'));
        return new Promise((resolve) => {
          signal!.addEventListener('abort', () => {
            withdrawn.push(message);
            onWithdrawn();
            resolve('too late');
          });
        });
      },
    },
  );
  return { outcome, feedback, withdrawn };
}

describe.each(['directly', 'through a gateway'])('on 2026-07-28 over HTTP, %s,', (way) => {
  test.each(['late', 'race', 'step'])('a question is taken away from the one who is asked: %s', async (name) => {
    hold();
    const { outcome, feedback, withdrawn } = await played(name, urls[way]!, MODERN);
    expect(withdrawn).toEqual(['Which channel?']);
    expect(outcome).toMatchObject({ success: true, result: 'slack, Ada' });
    expect(feedback).toHaveLength(1);
  });

  test('a question is taken away though nothing is asked in its place', async () => {
    hold();
    const { outcome, withdrawn } = await played('work', urls[way]!, MODERN, () => letGo('done'));
    expect(withdrawn).toEqual(['Which channel?']);
    expect(outcome).toMatchObject({ success: true, result: 'slack, Ada' });
  });

  test('an answer that comes too late, while the next question is not there yet, is followed by that question', async () => {
    hold();
    await using client = await connectFlows(urls[way]!, { log: QUIET, revision: MODERN });
    const asked: string[] = [];
    const outcome = await client.run(
      'work',
      {},
      {
        onFeedback: () => letGo('done'),
        onPrompt({ message }) {
          asked.push(message);
          if (message === 'Who?') return 'Ada';
          // Nothing else happens in this process until its time is over.
          for (const from = performance.now(); performance.now() - from < 350;);
          return 'too late';
        },
      },
    );
    expect(asked).toEqual(['Which channel?', 'Who?']);
    expect(outcome).toMatchObject({ success: true, result: 'slack, Ada' });
  });
});

test('on 2026-07-28 the end of the session reaches the person who is asked', async () => {
  const { outcome, withdrawn } = await played('short', urls.directly!, MODERN);
  // A person who says nothing is asked once more, in another session.
  expect(withdrawn).toEqual(['Which channel?', 'Which channel?']);
  expect(outcome).toMatchObject({ success: false, error: { name: 'FLOW_SESSION_EXPIRED' } });
});

test('a client is told when to look: at the end of the time of a question, else of its session', async () => {
  const started = async (toolName: string) =>
    (await send(urls.directly!, modern('interaction.start', { toolName }))).json.result as Json;
  const late = await started('late');
  expect(late.lookAgainMs).toBeGreaterThan(0);
  expect(late.lookAgainMs).toBeLessThanOrEqual(300);
  const plain = await started('plain');
  expect(plain.lookAgainMs).toBeGreaterThan(3_000_000);
  const { sessionId } = plain;
  const { result } = (await send(urls.directly!, modern('interaction.getState', { sessionId }))).json;
  expect(result?.lookAgainMs).toBeGreaterThan(3_000_000);
});

test('a client that can be told things need not look where only the session may expire', async () => {
  const { wire, socket } = await socketWire(portOf('directly'));
  await wire.initialize();
  const { result } = await wire.request('interaction.start', { toolName: 'plain' });
  expect(Object.keys(result!).toSorted()).toEqual(['initialPrompt', 'sessionId', 'state']);
  socket.close();
});

describe.each(['directly', 'through a gateway'])('a client that can be told things, %s,', (way) => {
  test.each(['late', 'work'])('learns at once that its question is closed: %s', async (name) => {
    hold();
    const address = `ws://127.0.0.1:${portOf(way)}/ws`;
    const { outcome, withdrawn } = await played(name, address, '2025-11-25', () => letGo('done'));
    expect(withdrawn).toEqual(['Which channel?']);
    expect(outcome).toMatchObject({ success: true, result: 'slack, Ada' });
  });

  test('reads which question it was and why, where nothing is asked in its place', async () => {
    hold();
    const { wire, socket } = await socketWire(portOf(way));
    await wire.initialize();
    const { result } = await wire.request('interaction.start', { toolName: 'work' });
    const { sessionId, initialPrompt } = result as { sessionId: string; initialPrompt: Json };
    const told = await wire.find('the withdrawal', ({ method }) => method === 'interaction.withdrawn');
    expect(told).toEqual({
      jsonrpc: '2.0',
      method: 'interaction.withdrawn',
      params: { sessionId, promptId: initialPrompt.promptId, reason: 'timeout' },
    });
    letGo('done');
    await wire.find('the next', ({ params }) => JSON.stringify(params ?? {}).includes('Who?'));
    expect(wire.messages.filter(({ method }) => method === 'interaction.withdrawn')).toHaveLength(1);
    socket.close();
  });

  test.each([
    ['answers it', 'interaction.respond', { response: { value: 'x' } }, 'moved'],
    ['cancels the session', 'interaction.cancel', {}, 'cancelled'],
  ])('is told when another client of its user %s', async (_, method, params, reason) => {
    const headers = { 'x-user': `ada-${method}-${way}` };
    const [one, two] = [await socketWire(portOf(way), headers), await socketWire(portOf(way), headers)];
    await Promise.all([one.wire.initialize(), two.wire.initialize()]);
    const { result } = await one.wire.request('interaction.start', { toolName: 'plain' });
    const { sessionId, initialPrompt } = result as { sessionId: string; initialPrompt: Json };
    const { promptId } = initialPrompt;
    await two.wire.request('interaction.getState', { sessionId });
    expect((await two.wire.request(method, { sessionId, promptId, ...params })).error).toBeUndefined();
    const told = await one.wire.find('the withdrawal', (message) => message.method === 'interaction.withdrawn');
    expect(told.params).toEqual({ sessionId, promptId, reason });
    expect(two.wire.messages.filter((message) => message.method === 'interaction.withdrawn')).toEqual([]);
    one.socket.close();
    two.socket.close();
  });
});

test('a client is told when the program that serves the flow cancels it', async () => {
  const { wire, socket } = await socketWire(portOf('directly'), { 'x-user': 'bob' });
  await wire.initialize();
  const { result } = await wire.request('interaction.start', { toolName: 'plain' });
  const { sessionId } = result as { sessionId: string };
  await sessions.cancel({ principal: 'bob', sessionId, reason: 'The office closes' });
  const told = await wire.find('the end', ({ method }) => method === 'interaction.ended');
  expect(told.params).toMatchObject({
    sessionId,
    result: {
      success: false,
      error: { name: 'FLOW_ALREADY_CANCELLED', message: 'plain was cancelled: The office closes' },
    },
  });
  socket.close();
});

test('a client is told when a tool that the gateway plays by its forms takes its question back', async () => {
  hold();
  const called = createServer({ name: 'called', version: '1', log: QUIET });
  serveFlows(called, FLOWS, { interactive: false });
  const { url } = await called.listen({ port: 0 });
  const front = createGateway({ servers: { called: { url } }, log: QUIET, startMs: 60_000 });
  const { wire, socket } = await socketWire(Number(new URL((await front.listen({ port: 0 })).url).port));
  await wire.initialize();
  const { result } = await wire.request('interaction.start', { toolName: 'work' });
  const { sessionId } = result as { sessionId: string };
  const asked = await wire.find('the prompt', ({ method }) => method === 'interaction.prompt');
  const { promptId } = (asked.params as { prompt: Json }).prompt;
  const told = await wire.find('the withdrawal', ({ method }) => method === 'interaction.withdrawn');
  expect(told.params).toEqual({ sessionId, promptId, reason: 'moved' });
  letGo('done');
  await wire.find('the next', ({ params }) => JSON.stringify(params ?? {}).includes('Who?'));
  socket.close();
  await front.close();
  await called.close();
});
