// A guard on `tools/call` judges every way to run a tool: also `interaction.start` of MCP Flow, with our own Flow server and with one that
// somebody else wrote, in a gateway, in a chain put together by hand, and in `parley serve` with a step from a file.
import { afterEach, describe, expect, test } from 'vitest';
import {
  ExternalMCPServer,
  FrontMCPServer,
  GatewayError,
  MiddlewareMCPServer,
  createGateway,
  createLog,
} from 'mcp-parley';
import type { Step, StepFunction } from 'mcp-parley';
import { connectFlows } from 'mcp-parley/flow';
import { filter, onCall, perClient, respond } from 'mcp-parley/middleware';
import { fixture } from '../helpers/fixture-server.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { within } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const { newHome, start } = homesOfTests();
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await within('closing', close());
});

type Steps = (Step | StepFunction)[];

const refuse = (name: unknown): never => {
  throw new GatewayError('TOOL_NOT_FOUND', { name });
};

/** Ways to write "nobody greets". */
const GUARDS: Record<string, () => Step | StepFunction> = {
  onCall: () => onCall((exchange, next) => (exchange.params.name.endsWith('greet') ? refuse('greet') : next())),
  'a step that tests the method': () => (exchange, next) =>
    exchange.method === 'tools/call' && String(exchange.params.name).endsWith('greet') ? refuse('greet') : next(),
  'a step with methods': () => ({
    name: 'guard',
    methods: ['tools/call'],
    handle: (exchange, next) => (String(exchange.params.name).endsWith('greet') ? refuse('greet') : next()),
  }),
  'a step per client': () =>
    perClient(() => onCall((exchange, next) => (exchange.params.name.endsWith('greet') ? refuse('greet') : next()))),
};

const SERVERS = { own: () => fixture('flow-tools', ['--stdio']), foreign: () => fixture('flow-only') };
const FRONTS = {
  async gateway(server: ReturnType<typeof fixture>, steps: Steps) {
    const gateway = createGateway({ servers: { flows: server }, steps, log, startMs: 60_000 });
    open.push(() => gateway.close());
    return (await gateway.listen({ port: 0 })).url;
  },
  async chain(server: ReturnType<typeof fixture>, steps: Steps) {
    const front = new FrontMCPServer(new MiddlewareMCPServer(new ExternalMCPServer(server, { log }), steps, { log }), {
      log,
    });
    open.push(() => front.close());
    return (await front.listen({ port: 0, host: '127.0.0.1' })).url;
  },
};

async function wireTo(url: string) {
  const { wire } = await socketWire(Number(new URL(url).port));
  await wire.initialize();
  return wire;
}

async function played(url: string, tool: string) {
  const client = await within('connect', connectFlows(url, { log }));
  open.push(() => client.close());
  const asked: string[] = [];
  const outcome = await within(
    'the flow',
    client.run(
      tool,
      {},
      {
        onPrompt({ message }) {
          asked.push(message);
          return 'Ada';
        },
      },
    ),
  );
  return { asked, outcome };
}

describe.each(['gateway', 'chain'] as const)('in a %s', (front) => {
  describe.each(['own', 'foreign'] as const)('before a Flow server (%s)', (server) => {
    test.each(Object.keys(GUARDS))('%s on tools/call refuses interaction.start, too', async (guard) => {
      const wire = await wireTo(await FRONTS[front](SERVERS[server](), [GUARDS[guard]!()]));
      const called = await wire.request('tools/call', { name: 'greet', arguments: {} });
      expect(called.error ?? called.result).toMatchObject({ code: -32602 });
      const started = await wire.request('interaction.start', { toolName: 'greet' });
      expect(started.error).toMatchObject({ message: expect.stringContaining('greet') });
      expect(started.result).toBeUndefined();
    });

    test('a step that only looks leaves the session to its server', async () => {
      const seen: string[] = [];
      const spy: StepFunction = (exchange, next) => {
        seen.push(`${exchange.method} ${String(exchange.params.name ?? exchange.params.toolName ?? '')}`.trim());
        return next();
      };
      const { asked, outcome } = await played(await FRONTS[front](SERVERS[server](), [spy]), 'greet');
      expect(asked).toEqual(['Your name?']);
      expect(outcome).toMatchObject({ success: true, interactive: true });
      const ways = seen.filter((one) => !one.startsWith('notifications/') && one !== 'capabilities');
      expect(ways.filter((one) => /call|start|respond/.test(one))).toEqual([
        'interaction.start greet',
        'tools/call greet',
        'interaction.respond',
      ]);
    });

    test('a step that changes results changes those of sessions, too', async () => {
      const stamp = onCall(async (_, next) => {
        const outcome = await next();
        outcome.result = { content: [{ type: 'text', text: 'stamped' }], structuredContent: { stamped: true } };
        return outcome;
      });
      const { asked, outcome } = await played(await FRONTS[front](SERVERS[server](), [stamp]), 'greet');
      // By hand, nobody plays our server's tools for a client that cannot be asked: it is told to call.
      const isCalled = front === 'chain' && server === 'own';
      expect(asked.join()).toContain(isCalled ? '' : 'Your name?');
      expect(outcome).toMatchObject({ interactive: !isCalled });
      expect(JSON.stringify(outcome)).toContain('stamped');
    });

    test('a step that answers itself is the result of the session', async () => {
      const closed = onCall(() => respond({ content: [{ type: 'text', text: 'closed today' }], isError: true }));
      const { asked, outcome } = await played(await FRONTS[front](SERVERS[server](), [closed]), 'greet');
      expect(asked).toEqual([]);
      expect(outcome.success).toBe(false);
      expect(JSON.stringify(outcome)).toContain('closed today');
    });
  });
});

test('a step that rewrites arguments of calls rewrites those of a start', async () => {
  const fix = onCall((exchange, next) => {
    exchange.params = { ...exchange.params, arguments: { ...exchange.params.arguments, city: 'Bergen' } };
    return next();
  });
  const wire = await wireTo(await FRONTS.gateway(SERVERS.own(), [fix]));
  const started = await wire.request('interaction.start', { toolName: 'book' });
  expect(started.result).toMatchObject({ initialPrompt: { message: 'How long?' } });
});

test('an unknown tool begins no session', async () => {
  const reads = onCall(async (_, next) => {
    const outcome = await next();
    outcome.result = { ...outcome.result, _meta: { checked: true } };
    return outcome;
  });
  const wire = await wireTo(await FRONTS.gateway(SERVERS.own(), [reads]));
  expect((await wire.request('interaction.start', { toolName: 'nothing' })).error).toMatchObject({ code: -32602 });
});

test('a built-in step per client judges a start once', async () => {
  const url = await FRONTS.gateway(SERVERS.own(), [perClient(() => filter({ allow: ['greet'] }))]);
  const wire = await wireTo(url);
  expect((await wire.request('interaction.start', { toolName: 'book' })).error).toMatchObject({ code: -32602 });
  expect((await wire.request('interaction.start', { toolName: 'greet' })).result).toMatchObject({ state: 'idle' });
});

test('a guard that is added later judges a session when it is continued', async () => {
  const servers = { flows: SERVERS.own() };
  const gateway = createGateway({ servers, log, startMs: 60_000 });
  open.push(() => gateway.close());
  const wire = await wireTo((await gateway.listen({ port: 0 })).url);
  const { result } = await wire.request('interaction.start', { toolName: 'greet' });
  const { sessionId } = result as { sessionId: string };
  gateway.update({ servers, steps: [GUARDS['onCall']!()] });
  const answered = await wire.request('interaction.respond', { sessionId, response: { value: 'Ada' } });
  expect(answered.error).toMatchObject({ message: expect.stringContaining('greet') });
  const state = await wire.request('interaction.getState', { sessionId });
  expect(state.result).toMatchObject({ state: 'waiting_user' });
});

test('parley serve with a step from a file, as the docs show it', async () => {
  const home = newHome();
  home.write(
    'guard.ts',
    `import { GatewayError, type StepFunction } from 'mcp-parley';
export const guard: StepFunction = (exchange, next) => {
  if (exchange.method === 'tools/call' && exchange.params.name === 'greet') {
    throw new GatewayError('TOOL_NOT_FOUND', { name: exchange.params.name });
  }
  return next();
};`,
  );
  home.write('parley.config.json', {
    mcpServers: { flows: SERVERS.own() },
    steps: ['./guard.ts'],
    listen: { port: 0 },
  });
  const gateway = start(home, ['serve', '--open']);
  const wire = await wireTo(await gateway.url());
  expect((await wire.request('tools/call', { name: 'greet', arguments: {} })).error).toMatchObject({ code: -32602 });
  expect((await wire.request('interaction.start', { toolName: 'greet' })).error).toMatchObject({ code: -32602 });
  expect((await wire.request('interaction.start', { toolName: 'book' })).result).toMatchObject({ state: 'idle' });
});
