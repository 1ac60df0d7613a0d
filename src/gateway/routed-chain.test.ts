import { describe, expect, it } from 'vitest';
import type { ConnectOptions } from '../sdk/client/types.ts';
import type { Ask } from '../kernel/exchange.ts';
import type { NotificationMessage } from '../kernel/message.ts';
import type { Step } from '../kernel/step.ts';
import type { Change, Target, Watcher } from '../kernel/target.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import { createServer } from '../sdk/server/create-server.ts';
import { testGateway } from '../testing/test-gateway.ts';
import { FakeTarget } from '../mcp/eras/fake-context.contract.ts';
import { settled } from '../kernel/fake-exchange.contract.ts';
import { rename } from './features/names/rename.ts';
import { redact } from './features/redact/redact.ts';

const HANDSHAKE: ConnectOptions = {
  revision: '2025-11-25',
  roots: [{ uri: 'file:///a' }],
  onElicit: () => ({ action: 'cancel' }),
};

/** A server that hears what clients say, and can ask those that watch it. */
function listening() {
  const heard: NotificationMessage[] = [];
  const watchers: Watcher[] = [];
  const target: Target = new FakeTarget();
  target.notify = (notification) => void heard.push(notification);
  const watch = target.watch.bind(target);
  target.watch = (listener, watcher) => {
    if (watcher) watchers.push(watcher);
    return watch(listener, watcher);
  };
  return { target, heard, watchers };
}

describe('notifications of clients', () => {
  const noting = (seen: string[], more: Partial<Step> = {}): Step => ({
    name: 'noting',
    handle(exchange, next) {
      seen.push(`${exchange.method} ${String(exchange.isNotification ?? false)}`);
      return next();
    },
    ...more,
  });

  it('passes the steps, and then goes to every server', async () => {
    const [one, two] = [listening(), listening()];
    const seen: string[] = [];
    const servers = { one: one.target, two: two.target };
    await using tested = await testGateway({ servers, steps: [noting(seen)] }, HANDSHAKE);
    await tested.client.setRoots([{ uri: 'file:///b' }]);
    await settled();
    expect(seen).toEqual(['notifications/roots/list_changed true']);
    for (const { heard } of [one, two]) expect(heard).toMatchObject([{ method: 'notifications/roots/list_changed' }]);
  });

  it('a step can withhold a notification, and a failing step is logged', async () => {
    const { target, heard } = listening();
    const refuse = () => {
      throw new GatewayError('ACCESS_DENIED', { uri: 'roots' });
    };
    await using tested = await testGateway({ servers: { target }, steps: [{ name: 'no', handle: refuse }] }, HANDSHAKE);
    await tested.client.setRoots([]);
    await settled();
    expect(heard).toEqual([]);
    expect(tested.logged).toMatchObject([{ event: 'notification.failed', method: 'notifications/roots/list_changed' }]);
  });

  it('passes by the steps that are for other methods', async () => {
    const { target, heard } = listening();
    const seen: string[] = [];
    const steps = [noting(seen, { methods: ['tools/call'] })];
    await using tested = await testGateway({ servers: { target }, steps }, HANDSHAKE);
    await tested.client.setRoots([]);
    await settled();
    expect([seen, heard.length]).toEqual([[], 1]);
  });
});

describe('questions of a server outside of requests', () => {
  const ask: Ask = { method: 'elicitation/create', params: { message: 'token=abc', requestedSchema: {} } };

  it('passes the steps, innermost first', async () => {
    const { target, watchers } = listening();
    const adding = (name: string): Step => ({
      name,
      onAsk: (asked, next, client) =>
        next({ ...asked, params: { ...asked.params, message: `${String(asked.params?.message)} ${name}` } }).then(
          (answer) => ({ ...answer, by: client.info.name }),
        ),
    });
    const messages: string[] = [];
    const onElicit = ({ message }: { message: string }) => {
      messages.push(message);
      return { action: 'decline' } as const;
    };
    const who = { ...HANDSHAKE, onElicit, name: 'me' };
    await using tested = await testGateway({ servers: { target }, steps: [adding('outer'), adding('inner')] }, who);
    await tested.client.ping();
    expect(await watchers[0]!.ask!(ask)).toMatchObject({ action: 'decline', by: 'me' });
    expect(messages).toEqual(['token=abc inner outer']);
  });

  it('can be answered by a step, or refused in its name', async () => {
    const { target, watchers } = listening();
    let fails = false;
    const answering: Step = {
      name: 'answering',
      onAsk() {
        if (fails) throw new TypeError('oops');
        return { action: 'accept', content: {} };
      },
    };
    await using tested = await testGateway({ servers: { target }, steps: [answering] }, HANDSHAKE);
    await tested.client.ping();
    expect(await watchers[0]!.ask!(ask)).toEqual({ action: 'accept', content: {} });
    fails = true;
    await expect(watchers[0]!.ask!(ask)).rejects.toMatchObject({ code: 'STEP_FAILED', details: { step: 'answering' } });
  });

  it('has its secrets taken out by redact', async () => {
    const { target, watchers } = listening();
    const messages: string[] = [];
    const onElicit = ({ message }: { message: string }) => {
      messages.push(message);
      return { action: 'decline' } as const;
    };
    const steps = [redact({ patterns: ['token=\\w+'] })];
    await using tested = await testGateway({ servers: { target }, steps }, { ...HANDSHAKE, onElicit });
    await tested.client.ping();
    await watchers[0]!.ask!(ask);
    expect(messages).toEqual(['[redacted]']);
  });
});

describe('a change', () => {
  it('steps see a change once, however many clients it reaches', async () => {
    const server = createServer({ name: 'x', version: '1' });
    const seen: Change[] = [];
    const hearing: Step = {
      name: 'hearing',
      onChange(change) {
        seen.push(change);
        return change;
      },
    };
    server.tool('first', {}, () => '');
    await using tested = await testGateway(
      { servers: { server, other: new FakeTarget() }, steps: [hearing] },
      HANDSHAKE,
    );
    const clients = [tested.client, await tested.connect(HANDSHAKE), await tested.connect(HANDSHAKE)];
    const told = clients.map((client) => new Promise((resolve) => client.on('tools', resolve)));
    server.tool('late', {}, () => '');
    await Promise.all(told);
    expect(seen).toMatchObject([{ kind: 'tools', added: [{ name: 'server__late' }] }]);
    server.tool('later', {}, () => '');
    await settled();
    expect(seen).toHaveLength(2);
  });
});

it('the schema of a tool is found by the name that clients know it by', async () => {
  const server = createServer({ name: 'x', version: '1' });
  const input = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
  server.tool('query', { input }, ({ region }) => String(region));
  const steps = [rename({ tools: { ask_for: 'look_up' } }), rename({ tools: { query: 'ask_for' } })];
  await using tested = await testGateway({ servers: { server }, steps });
  const { url } = await tested.gateway.listen({ port: 0 });
  await tested.client.listTools();
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: 'look_up', arguments: { region: 'eu' }, _meta: meta };
  const call = async (region: string): Promise<number> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'look_up',
        'mcp-param-region': region,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    await response.text();
    return response.status;
  };
  expect([await call('eu'), await call('us')]).toEqual([200, 400]);
});
