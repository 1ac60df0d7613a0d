// Rules that change while something runs: a session, a task, a call whose question is open, an approval that waits, a cached answer.
// What the new rules forbid goes no further, and what they still allow does.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { cache } from 'mcp-parley/middleware';
import type { Exchange, GatewayOptions, ParleyServer, Target } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { connected } from '../helpers/fixture-server.ts';
import { openSession } from '../helpers/mcp-http.ts';
import type { HttpSession } from '../helpers/mcp-http.ts';
import type { Json } from '../helpers/http-wire.ts';
import { within } from '../helpers/until.ts';

type Rules = NonNullable<GatewayOptions['rules']>;

const QUIET = createLog({ level: 'silent' });
const KEY = 'a key for these tests alone';
const FORBIDDEN = { code: -32000, message: expect.stringContaining('A rule of the gateway forbids') };
const OTHER: Rules = [{ tool: 'nothing', effect: 'deny' }];
const DENY: Rules = [{ tool: 'transfer', effect: 'deny' }];
const ABOVE_100: Rules = [{ tool: 'transfer', when: 'args.amount > 100', effect: 'deny' }];

const transferred: unknown[] = [];
const transfer = flow({ name: 'transfer', description: 'Transfer', long: true }, async (ask) => {
  const to = await ask.text('to', { message: 'To whom?' });
  await ask.step('send', () => void transferred.push(to));
  return to;
});
let server: ParleyServer;
let url: string;

beforeAll(async () => {
  const identify = () => ({ principal: 'gateway' }); // one gateway goes on where another one began
  server = createServer({ name: 'desk', version: '1', log: QUIET, taskGraceMs: 20, identify });
  serveFlows(server, [transfer]);
  ({ url } = await server.listen({ port: 0 }));
});
afterAll(() => server.close());

async function gateway(rules: Rules | undefined, more: Partial<GatewayOptions> = {}) {
  const made = createGateway({
    servers: { desk: url },
    log: QUIET,
    keys: [KEY],
    ask: { channels: [] },
    ...more,
    ...(rules && { rules }),
  });
  const listening = await made.listen({ port: 0 });
  return { made, url: listening.url, [Symbol.asyncDispose]: () => made.close() };
}

async function start(session: HttpSession, initialParams: Json = {}): Promise<string> {
  const { json } = await session.request('interaction.start', { toolName: 'transfer', initialParams });
  expect(json).toHaveProperty('result.sessionId');
  return String((json.result as unknown as Json).sessionId);
}

const GOING_ON = ['interaction.respond', 'interaction.getState', 'interaction.complete'];

describe('a flow that runs', () => {
  test.each(GOING_ON)('%s is refused once its tool is denied, and works again', async (method) => {
    await using world = await gateway(OTHER);
    const session = await openSession(world.url);
    const sessionId = await start(session);
    world.made.update({ rules: DENY });
    const before = transferred.length;
    const refused = await session.request(method, { sessionId, response: 'mallory', value: 'mallory' });
    expect(refused.json.error).toMatchObject(FORBIDDEN);
    expect(transferred).toHaveLength(before);
    world.made.update({ rules: OTHER });
    const { json } = await session.request('interaction.getState', { sessionId });
    expect(json).toHaveProperty('result.state');
  });

  test('it can always be cancelled', async () => {
    await using world = await gateway(OTHER);
    const session = await openSession(world.url);
    const sessionId = await start(session);
    world.made.update({ rules: [{ effect: 'deny' }] });
    const { json } = await session.request('interaction.cancel', { sessionId });
    expect(json).toHaveProperty('result');
  });

  test('the first rules of a gateway count, too', async () => {
    await using world = await gateway(undefined);
    const session = await openSession(world.url);
    const sessionId = await start(session);
    world.made.update({ rules: DENY });
    const { json } = await session.request('interaction.getState', { sessionId });
    expect(json.error).toMatchObject(FORBIDDEN);
  });

  test('new rules judge the arguments with which it began', async () => {
    await using world = await gateway(OTHER);
    const session = await openSession(world.url);
    const [small, large] = [await start(session, { amount: 1 }), await start(session, { amount: 1000 })];
    world.made.update({ rules: ABOVE_100 });
    expect((await session.request('interaction.getState', { sessionId: small })).json).toHaveProperty('result');
    expect((await session.request('interaction.getState', { sessionId: large })).json.error).toMatchObject(FORBIDDEN);
  });

  test('who has to be asked now has not been asked, and begins again', async () => {
    await using world = await gateway(OTHER);
    const session = await openSession(world.url);
    const sessionId = await start(session);
    world.made.update({ rules: [{ tool: 'transfer', effect: 'ask' }] });
    expect((await session.request('interaction.getState', { sessionId })).json.error).toMatchObject(FORBIDDEN);
  });

  test('what was allowed is not judged by what was read later', async () => {
    const rules: Rules = [
      { tool: 'transfer', marks: ['private', 'untrusted', 'out'] },
      { marked: 'out', after: ['private', 'untrusted'], effect: 'deny' },
    ];
    await using world = await gateway(rules);
    const session = await openSession(world.url);
    const sessionId = await start(session);
    const { json } = await session.request('interaction.getState', { sessionId });
    expect(json).toHaveProperty('result');
  });
});

const NOBODY = { identify: () => ({ principal: 'ann' }) };

describe('a flow that outlives its gateway', () => {
  test('is judged by the rules of the next one', async () => {
    const held: string[] = [];
    {
      await using world = await gateway(ABOVE_100, NOBODY);
      const session = await openSession(world.url);
      held.push(await start(session, { amount: 1 }));
    }
    {
      await using same = await gateway(ABOVE_100, NOBODY);
      const session = await openSession(same.url);
      expect((await session.request('interaction.getState', { sessionId: held[0] })).json).toHaveProperty('result');
    }
    await using other = await gateway(DENY, NOBODY);
    const session = await openSession(other.url);
    expect((await session.request('interaction.getState', { sessionId: held[0] })).json.error).toMatchObject(FORBIDDEN);
  });

  test('its arguments are not known there, so changed rules about them refuse it', async () => {
    let sessionId: string;
    {
      await using world = await gateway(OTHER, NOBODY);
      sessionId = await start(await openSession(world.url), { amount: 1 });
    }
    await using other = await gateway(ABOVE_100, NOBODY);
    const session = await openSession(other.url);
    expect((await session.request('interaction.getState', { sessionId })).json.error).toMatchObject(FORBIDDEN);
  });
});

describe('a task that runs', () => {
  async function begin(session: HttpSession): Promise<string> {
    const { json } = await session.request('tools/call', { name: 'transfer', arguments: {}, task: { ttl: 600_000 } });
    expect(json).toHaveProperty('result.task.taskId');
    return String(((json.result as unknown as Json).task as Json).taskId);
  }

  test.each(['tasks/get', 'tasks/result'])('%s is refused once its tool is denied', async (method) => {
    await using world = await gateway(OTHER);
    const session = await openSession(world.url, { capabilities: { elicitation: {} } });
    const taskId = await begin(session);
    world.made.update({ rules: DENY });
    const { json } = await session.request(method, { taskId });
    expect(json.error).toMatchObject(FORBIDDEN);
    const cancelled = await session.request('tasks/cancel', { taskId });
    expect(cancelled.json).toHaveProperty('result');
  });

  test('the first rules of a gateway count, too', async () => {
    await using world = await gateway(undefined);
    const session = await openSession(world.url, { capabilities: { elicitation: {} } });
    const taskId = await begin(session);
    world.made.update({ rules: DENY });
    expect((await session.request('tasks/get', { taskId })).json.error).toMatchObject(FORBIDDEN);
  });
});

describe('a call whose question is open', () => {
  test.each(['2025-11-25', '2026-07-28'])(
    '%s: the answer does not reach a server that is denied now',
    async (revision) => {
      const got: unknown[] = [];
      const target = askingTarget(got);
      await using world = await gateway(OTHER, { servers: { desk: target } });
      await using client = await connected(world.url, {
        revision,
        onElicit: () => {
          world.made.update({ rules: DENY });
          return { action: 'accept', content: { to: 'mallory' } };
        },
      });
      await expect(within('the call', client.callTool('transfer'))).rejects.toThrow('A rule of the gateway forbids');
      expect(got).toEqual([]);
    },
  );

  test('rules that still allow it let the answer pass', async () => {
    const got: unknown[] = [];
    await using world = await gateway(OTHER, { servers: { desk: askingTarget(got) } });
    await using client = await connected(world.url, {
      onElicit: () => {
        world.made.update({ rules: ABOVE_100 });
        return { action: 'accept', content: { to: 'bob' } };
      },
    });
    await within('the call', client.callTool('transfer', { amount: 3 }));
    expect(got).toEqual([{ action: 'accept', content: { to: 'bob' } }]);
  });

  test('an approval that comes after a denial does nothing', async () => {
    const got: unknown[] = [];
    await using world = await gateway([{ tool: 'transfer', effect: 'ask' }], {
      servers: { desk: askingTarget(got) },
      ask: { channels: [], trust: 'all' },
    });
    await using client = await connected(world.url, {
      onElicit: () => {
        world.made.update({ rules: DENY });
        return { action: 'accept', content: { approve: true } };
      },
    });
    const { isError } = await within('the call', client.callTool('transfer'));
    expect(isError).toBe(true);
    expect(got).toEqual([]);
  });
});

/** Asks during each call, and keeps what it is answered. */
function askingTarget(got: unknown[]): Target {
  return {
    info: { name: 'desk', version: '1' },
    capabilities: () => ({ tools: {} }),
    watch: () => () => {},
    async handle(exchange: Exchange) {
      if (exchange.method === 'tools/list') return { tools: [{ name: 'transfer', inputSchema: { type: 'object' } }] };
      const schema = { type: 'object', properties: { to: { type: 'string' } } };
      got.push(
        await exchange.ask({ method: 'elicitation/create', params: { message: 'Whom?', requestedSchema: schema } }),
      );
      return { content: [{ type: 'text', text: 'done' }] };
    },
  };
}

describe('cached answers', () => {
  let reads = 0;
  const notes: Target = {
    info: { name: 'notes', version: '1' },
    capabilities: () => ({ tools: {}, resources: {} }),
    watch: () => () => {},
    handle({ method, params }) {
      if (method === 'tools/list') return { tools: [{ name: 'send', inputSchema: { type: 'object' } }] };
      if (method === 'resources/list')
        return { resources: [{ uri: 'note:///a', name: 'a' }], ttlMs: 60_000, cacheScope: 'public' };
      if (method === 'resources/templates/list') return { resourceTemplates: [] };
      if (method !== 'resources/read') return { content: [] };
      reads++;
      return { contents: [{ uri: params.uri, text: 'a' }], ttlMs: 60_000, cacheScope: 'public' };
    },
  };
  const read = (session: HttpSession) => session.request('resources/read', { uri: 'note:///a' });

  test.each([
    ['first', 0],
    ['after a list', 1],
  ])('a read is judged before it is answered from memory (%s)', async (_, lists) => {
    reads = 0;
    const rules: Rules = [
      { resource: 'note:///*', marks: 'private' },
      { tool: 'send', marks: 'out' },
      { resource: 'note:///*', after: 'out', effect: 'deny' },
    ];
    await using world = await gateway(rules, {
      servers: { notes },
      steps: [cache()],
      identify: () => ({ principal: 'ann' }),
    });
    const session = await openSession(world.url);
    for (let list = 0; list < lists; list++) await session.request('resources/list');
    expect((await read(session)).json).toHaveProperty('result');
    expect((await read(session)).json).toHaveProperty('result');
    expect(reads).toBe(1);
    await session.request('tools/call', { name: 'send', arguments: {} });
    expect((await read(session)).json).toHaveProperty('error');
  });

  test('a group that was taken away, with the same principal, ends what was kept', async () => {
    let groups = ['staff'];
    const rules: Rules = [
      { group: 'staff', effect: 'allow' },
      { resource: 'note:///*', effect: 'hide' },
    ];
    await using world = await gateway(rules, {
      servers: { notes },
      steps: [cache()],
      identify: () => ({ principal: 'ann', groups }),
    });
    const listed = async () =>
      ((await (await openSession(world.url)).request('resources/list')).json.result as unknown as Json).resources;
    expect(await listed()).toHaveLength(1);
    groups = [];
    expect(await listed()).toHaveLength(0);
  });
});
