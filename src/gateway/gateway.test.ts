import { InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { Client } from '../sdk/client/client.ts';
import { connect } from '../sdk/client/connect.ts';
import { createServer } from '../sdk/server/create-server.ts';
import type { Step } from '../kernel/step.ts';
import type { Target } from '../kernel/target.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import { createLog } from '../kernel/base/log.ts';
import { createGateway } from './gateway.ts';
import type { GatewayOptions } from './gateway.ts';
import { respond } from './chain/outcome.ts';

const log = createLog({ level: 'silent' });

function speaking(name: string, ...tools: string[]) {
  const server = createServer({ name, version: '1', log });
  for (const tool of tools) server.tool(tool, { description: `${tool} of ${name}` }, () => `${tool} of ${name}`);
  return server;
}

async function clientOf(options: GatewayOptions, revision?: string) {
  const gateway = createGateway({ log, ask: { channels: [] }, ...options });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await gateway.connect(theirs);
  const client = await connect(ours, { log, ...(revision && { revision }) });
  return { gateway, client };
}

const text = (result: { content: { type: string; text?: string }[] }) => result.content[0]?.text;

describe('a server that hangs while it starts', () => {
  /** Neither comes up nor answers. */
  const hanging = (): Target => ({
    info: { name: 'unknown', version: '0' },
    status: { state: 'starting' },
    ready: () => new Promise(() => {}),
    capabilities: () => ({}),
    handle: () => new Promise(() => {}),
    watch: () => () => {},
  });

  it.each([[{}], [{ other: speaking('other', 'hello') }]])(
    'keeps a list of it alone waiting for startMs',
    async (others) => {
      const gateway = createGateway({
        log,
        servers: { slow: hanging(), ...others },
        startMs: 20,
        ask: { channels: [] },
      });
      const { url } = await gateway.listen({ port: 0 });
      const client = await connect({ url: `${url}/slow` }, { log, revision: '2026-07-28' });
      await expect(client.listTools()).rejects.toThrow('still starting');
      await client.close();
      await gateway.close();
    },
  );
});

describe('a gateway before several servers', () => {
  const servers = () => ({ one: speaking('one', 'hello', 'only'), two: speaking('two', 'hello') });

  it('lists all tools in the order of the configuration, each with its server in front', async () => {
    const { client } = await clientOf({ servers: servers() });
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['one__hello', 'one__only', 'two__hello']);
  });

  it('gives a call to the server that owns the name, and refuses a name without its server', async () => {
    const { client } = await clientOf({ servers: servers() });
    expect(text(await client.callTool('two__hello'))).toBe('hello of two');
    expect(text(await client.callTool('one__hello'))).toBe('hello of one');
    await expect(client.callTool('only')).rejects.toMatchObject({ message: 'Unknown tool: only' });
  });

  it('has bare names where no server before has them, if that is wanted, and understands the qualified ones', async () => {
    const { client } = await clientOf({ servers: servers(), names: 'on-collision' });
    expect(text(await client.callTool('one__only'))).toBe('only of one'); // before anything was listed
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['hello', 'only', 'two__hello']);
    expect(text(await client.callTool('hello'))).toBe('hello of one');
    expect(text(await client.callTool('one__hello'))).toBe('hello of one');
  });

  it('understands the qualified name of a server that is alone, unless the server has a tool of that very name', async () => {
    const { client } = await clientOf({ servers: { one: speaking('one', 'hello', 'one__odd', 'odd') } });
    expect(text(await client.callTool('one__hello'))).toBe('hello of one');
    expect(text(await client.callTool('one__odd'))).toBe('one__odd of one');
  });

  it('resources are found behind a server without a list of templates, and without a warning', async () => {
    const warned: unknown[] = [];
    const own = createLog({ level: 'warn', write: (line) => void warned.push(line) });
    const plain: Target = {
      info: { name: 'plain', version: '1' },
      capabilities: () => ({ resources: {} }),
      watch: () => () => {},
      handle({ method, params }) {
        if (method === 'resources/list') return { resources: [] };
        if (method === 'resources/read') throw new GatewayError('RESOURCE_NOT_FOUND', { uri: params.uri });
        throw new GatewayError('METHOD_NOT_FOUND', { method });
      },
    };
    const two = speaking('two');
    two.template('item://{id}', { name: 'items' }, (_uri, { id }) => `item ${id}`);
    const { client } = await clientOf({ servers: { plain, two }, log: own });
    expect((await client.readResource('item://4')).contents).toMatchObject([{ text: 'item 4' }]);
    expect(await client.listResourceTemplates()).toHaveLength(1);
    expect(warned).toEqual([]);
  });

  it('a call of an unknown tool is refused', async () => {
    const { client } = await clientOf({ servers: servers() });
    await expect(client.callTool('nope')).rejects.toMatchObject({ code: -32602, message: 'Unknown tool: nope' });
  });

  it('continues without a server that cannot be started', async () => {
    const dead = { command: 'no-such-command-anywhere' };
    const { client, gateway } = await clientOf({ servers: { dead, ...servers() } });
    expect(await client.listTools()).toHaveLength(3);
    await gateway.close();
  });

  it('serves other servers after an update, and tells its clients', async () => {
    const before = servers();
    const { client, gateway } = await clientOf({ servers: before }, '2025-11-25');
    await client.listTools();
    const told = new Promise((resolve) => client.on('tools', resolve));
    gateway.update({ servers: { two: before.two, three: speaking('three', 'late') } });
    await told;
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['two__hello', 'three__late']);
  });
});

describe('a gateway whose servers change', () => {
  const named = async (client: Client) => (await client.listTools()).map(({ name }) => name);

  it('names tools by the configuration it has now: bare for one server, with the server in front for several', async () => {
    const one = speaking('one', 'hello');
    const two = speaking('two', 'hello');
    const { client, gateway } = await clientOf({ servers: { one } }, '2025-11-25');
    expect(await named(client)).toEqual(['hello']);
    gateway.update({ servers: { two, one } });
    expect(await named(client)).toEqual(['two__hello', 'one__hello']);
    await expect(client.callTool('hello')).rejects.toMatchObject({ message: 'Unknown tool: hello' });
    gateway.update({ servers: { two } });
    expect(await named(client)).toEqual(['hello']);
    expect(text(await client.callTool('two__hello'))).toBe('hello of two');
    await expect(client.callTool('one__hello')).rejects.toThrow('Unknown tool');
  });

  it('keeps a server open whose rules for tools change, and opens it again for other settings', async () => {
    const server = { command: process.execPath, args: ['-e', ''] };
    const { gateway } = await clientOf({ servers: { one: { server, timeoutMs: 1 } } });
    const target = () => gateway.servers[0]!.target;
    const first = target();
    gateway.update({ servers: { one: { server, timeoutMs: 1, tools: { deny: ['a'] }, rate: { perServer: '1/s' } } } });
    expect(target()).toBe(first);
    gateway.update({ servers: { one: { server, timeoutMs: 1 } } });
    expect(target()).toBe(first);
    gateway.update({ servers: { one: { server, timeoutMs: 2 } } });
    const second = target();
    expect(second).not.toBe(first);
    gateway.update({ servers: { one: { server: { ...server }, timeoutMs: 2 } } });
    expect(target()).not.toBe(second);
  });

  it('gives names by another rule when it is told to; qualified ones can be called by either', async () => {
    const servers = { one: speaking('one', 'hello'), two: speaking('two', 'only') };
    const { client, gateway } = await clientOf({ servers }, '2025-11-25');
    expect(await named(client)).toEqual(['one__hello', 'two__only']);
    const told = new Promise((resolve) => client.on('tools', resolve));
    gateway.update({ names: 'on-collision' });
    await told;
    expect(await named(client)).toEqual(['hello', 'only']);
    expect(text(await client.callTool('two__only'))).toBe('only of two');
    gateway.update({ names: 'always' });
    expect(await named(client)).toEqual(['one__hello', 'two__only']);
    await expect(client.callTool('only')).rejects.toMatchObject({ message: 'Unknown tool: only' });
  });

  it('has bare names at the path of one server, and qualified ones for a group', async () => {
    const servers = { one: speaking('one', 'hello'), two: speaking('two', 'hello') };
    const gateway = createGateway({
      log,
      ask: { channels: [] },
      servers,
      groups: { pair: ['one', 'two'], lone: ['two'] },
    });
    const { url } = await gateway.listen({ port: 0 });
    const at = async (path: string) => named(await connect(`${url}${path}`, { log }));
    expect(await at('/two')).toEqual(['hello']);
    expect(await at('/pair')).toEqual(['one__hello', 'two__hello']);
    expect(await at('/lone')).toEqual(['two__hello']);
    await gateway.close();
  });

  it('the tools of a server that is away are still shown', async () => {
    const away = speaking('away', 'hello');
    const dying: Target & { status: { state: string } } = {
      info: away.info,
      status: { state: 'ready' },
      capabilities: (who) => away.capabilities(who),
      watch: (listener) => away.watch(listener),
      handle(exchange) {
        if (dying.status.state === 'failing') throw new GatewayError('UPSTREAM_CLOSED', { server: 'away' });
        return away.handle(exchange);
      },
    };
    const before = { dying, one: speaking('one', 'only') };
    const { client, gateway } = await clientOf({ servers: before }, '2025-11-25');
    expect(await named(client)).toEqual(['dying__hello', 'one__only']);
    dying.status.state = 'failing';
    gateway.update({ servers: { ...before, two: speaking('two', 'late') } });
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['dying__hello', 'one__only', 'two__late']);
    expect(tools[0]!._meta).toHaveProperty('mcp-parley/unavailable');
    gateway.update({ servers: { one: before.one, dying: { ...dying } } }); // another server by that name
    expect(await named(client)).toEqual(['one__only']);
  });
});

describe('the steps of a gateway', () => {
  it('see every request on its way and its outcome on its way back, outermost first', async () => {
    const seen: string[] = [];
    const tracing = (name: string): Step => ({
      name,
      handle: async (exchange, next) => {
        seen.push(`${name} > ${exchange.method}`);
        const outcome = await next();
        seen.push(`${name} < ${exchange.method}`);
        return outcome;
      },
    });
    const { client } = await clientOf({
      servers: { one: speaking('one', 'hello') },
      steps: [tracing('a'), tracing('b')],
    });
    await client.callTool('hello');
    const call = seen.filter((line) => line.endsWith('tools/call'));
    expect(call).toEqual(['a > tools/call', 'b > tools/call', 'b < tools/call', 'a < tools/call']);
  });

  it('may answer in place of a server', async () => {
    const { client } = await clientOf({
      servers: { one: speaking('one', 'hello') },
      steps: [
        (exchange, next) =>
          exchange.method === 'tools/call' ? respond({ content: [{ type: 'text', text: 'no' }] }) : next(),
      ],
    });
    expect(text(await client.callTool('hello'))).toBe('no');
  });
});
