// One user tries to use what belongs to another: sessions, states of open questions, handles, tasks, pages of lists. To them it looks
// like a thing that does not exist. `PARLEY_TRIES=100000` tries more often.
import { afterEach, expect, it } from 'vitest';
import { modern, rpc } from '../../../../tests/helpers/mcp-http.ts';
import type { Json } from '../../../../tests/helpers/http-wire.ts';
import { createServer } from '../../../server/create-server.ts';
import { createLog } from '../../../shared/log.ts';
import { createGateway } from '../../gateway.ts';

const log = createLog({ level: 'silent' });
const TRIES = Number(process.env['PARLEY_TRIES'] ?? 5000);
const KEYS = { ann: 'parley_the-key-of-ann-0123456789', bob: 'parley_the-key-of-bob-0123456789' };
const META = 'io.modelcontextprotocol';
const ASKABLE = { [`${META}/clientCapabilities`]: { elicitation: { form: {} } } };
const FOLLOWS = { [`${META}/clientCapabilities`]: { extensions: { [`${META}/tasks`]: {} } } };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Who = keyof typeof KEYS;
interface Said {
  status: number;
  body: {
    result?: Json & { requestState?: string; taskId?: string; content?: { text: string }[] };
    error?: { message: string };
  };
  session: string | null;
}

function serving() {
  const server = createServer({ name: 'inner', version: '1', log, taskGraceMs: 1 });
  let runs = 0;
  server.tool('ask', {}, async (_, call) => {
    const { action } = await call.ask.elicit({
      key: 'sure',
      message: 'Sure?',
      schema: { type: 'object', properties: { sure: { type: 'boolean' } } },
    });
    runs++;
    return action;
  });
  server.tool('slow', { task: 'optional' }, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return 'ended';
  });
  const keys = Object.entries(KEYS).map(([name, key]) => ({ name, key }));
  const gateway = createGateway({ servers: { inner: server }, log, auth: { keys }, names: 'on-collision' });
  const endpoint = gateway.endpoint();
  closing.push(() => gateway.close());
  const send = async (
    who: Who,
    { body, headers = {}, method = 'POST' }: { body?: Json; headers?: Record<string, string>; method?: string },
  ): Promise<Said> => {
    const reply = await endpoint.fetch(
      new Request('http://localhost/mcp', {
        method,
        headers: {
          host: 'localhost',
          authorization: `Bearer ${KEYS[who]}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    const text = await reply.text();
    const json = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}');
    return {
      status: reply.status,
      body: JSON.parse(json) as Said['body'],
      session: reply.headers.get('mcp-session-id'),
    };
  };
  return { send, runs: () => runs };
}

/** The same id, or one a little beside it. */
function near(id: string, random: () => number): string {
  const at = Math.floor(random() * id.length);
  const other = 'abcXYZ019_-'[Math.floor(random() * 11)]!;
  const ways = [
    () => id,
    () => id.slice(0, at) + other + id.slice(at + 1),
    () => id.slice(0, at),
    () => id + other,
    () => id.toUpperCase(),
  ];
  return ways[Math.floor(random() * ways.length)]!() || 'x';
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
}

it(`what belongs to one key does not exist for another, in ${TRIES} tries`, async () => {
  const { send, runs } = serving();
  const random = seeded(42);
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const session = (await send('ann', { body: rpc('initialize', opening) })).session!;
  const call = (name: string, more: Json = {}, meta: Json = ASKABLE) =>
    modern('tools/call', { name, arguments: {}, ...more }, meta);
  const state = (await send('ann', call('ask'))).body.result!.requestState!;
  const task = String(((await send('ann', call('slow', {}, FOLLOWS))).body.result as { taskId?: string }).taskId);
  expect([typeof session, typeof state, task.length > 10]).toEqual(['string', 'string', true]);
  const yes = { inputResponses: { sure: { action: 'accept', content: { sure: true } } } };
  const tries: ((who: Who, exact: boolean) => Promise<Said>)[] = [
    (who, exact) =>
      send(who, { body: rpc('ping'), headers: { 'mcp-session-id': exact ? session : near(session, random) } }),
    (who, exact) =>
      send(who, {
        method: 'GET',
        headers: {
          'mcp-session-id': exact ? session : near(session, random),
          accept: 'text/event-stream',
          'last-event-id': `${Math.floor(random() * 9)}`,
        },
      }),
    (who, exact) =>
      send(who, { method: 'DELETE', headers: { 'mcp-session-id': exact ? session : near(session, random) } }),
    (who, exact) => send(who, call('ask', { ...yes, requestState: exact ? state : near(state, random) })),
    (who, exact) => send(who, modern('tasks/get', { taskId: exact ? task : near(task, random) }, FOLLOWS)),
    (who, exact) => send(who, modern('tasks/cancel', { taskId: exact ? task : near(task, random) }, FOLLOWS)),
  ];
  // What the answers to ids of nothing look like.
  const never = await Promise.all([
    send('bob', { body: rpc('ping'), headers: { 'mcp-session-id': 'never-was' } }),
    send('bob', call('ask', { ...yes, requestState: 'never-was' })),
    send('bob', modern('tasks/get', { taskId: 'never-was' }, FOLLOWS)),
  ]);
  const nothing = new Set(never.map(({ status, body }) => `${status} ${body.error?.message.replace(/[:(].*/, '')}`));
  for (let n = 0; n < TRIES; n++) {
    const one = tries[n % tries.length]!;
    const { status, body } = await one('bob', random() < 0.3);
    expect(nothing).toContain(`${status} ${body.error?.message.replace(/[:(].*/, '')}`);
  }
  expect(runs()).toBe(0);
  // All of it is still there for its owner.
  expect((await send('ann', { body: rpc('ping'), headers: { 'mcp-session-id': session } })).status).toBe(200);
  expect((await tries[4]!('ann', true)).body.result).toMatchObject({ taskId: task });
  expect((await tries[3]!('ann', true)).body.error).toBeUndefined();
}, 300_000);
