// A method that the method table does not have: passed on where nobody restricts anything, never past a rule, a rate or the audit log.
import { afterEach, describe, expect, it } from 'vitest';
import type { AuditEvent } from '../kernel/audit.ts';
import type { Exchange } from '../kernel/exchange.ts';
import { createLog } from '../kernel/base/log.ts';
import { createServer } from '../sdk/server/create-server.ts';
import { testGateway } from '../testing/test-gateway.ts';
import type { TestedGateway } from '../testing/test-gateway.ts';
import type { GatewayOptions } from './gateway.ts';

const log = createLog({ level: 'silent' });
const closing: TestedGateway[] = [];
afterEach(() => Promise.all(closing.splice(0).map((one) => one.close())));

function robot(name: string, seen: string[]) {
  const server = createServer({ name, version: '1', log });
  server.tool('move', {}, () => 'moved');
  const run = ({ method }: Exchange) => {
    seen.push(`${name} ${method}`);
    return { moved: true };
  };
  server.extend({ methods: { 'acme/move': run, 'sampling/createMessage': run } });
  return server;
}

async function gateway(options: Partial<GatewayOptions> = {}) {
  const seen: string[] = [];
  const events: AuditEvent[] = [];
  const servers = { arm: robot('arm', seen), leg: robot('leg', seen) };
  const tested = await testGateway({ servers, audit: (event) => events.push(event), ...options });
  closing.push(tested);
  const { client } = tested;
  const run = (method = 'acme/move') => client.request(method, { _meta: { 'mcp-parley/server': 'leg' } });
  return { run, seen, events };
}

describe('a method that the method table does not have', () => {
  it('is passed on to its server where there are no rules, and recorded', async () => {
    const { run, seen, events } = await gateway();
    expect(await run()).toMatchObject({ moved: true });
    expect(seen).toEqual(['leg acme/move']);
    expect(events).toMatchObject([{ kind: 'call', method: 'acme/move', server: 'leg', outcome: 'ok' }]);
  });

  it('is refused by rules about something else, and the audit log says so', async () => {
    const { run, seen, events } = await gateway({ rules: [{ tool: 'move', effect: 'deny' }] });
    await expect(run()).rejects.toThrow('A rule of the gateway forbids acme/move');
    await expect(run('sampling/createMessage')).rejects.toThrow('forbids sampling/createMessage');
    expect(seen).toEqual([]);
    expect(events).toMatchObject([
      { method: 'acme/move', outcome: 'FORBIDDEN_BY_RULE', decision: { rule: 'rules', effect: 'deny' } },
      { method: 'sampling/createMessage', outcome: 'FORBIDDEN_BY_RULE' },
    ]);
  });

  it('is passed on again once a rule allows it', async () => {
    const { run, events } = await gateway({ rules: [{ method: 'acme/*', server: 'leg', effect: 'allow' }] });
    expect(await run()).toMatchObject({ moved: true });
    expect(events).toMatchObject([{ outcome: 'ok', decision: { rule: 'rules[0]', effect: 'allow' } }]);
  });

  it('counts for the rate of its server', async () => {
    const { run, seen } = await gateway({ rate: { perServer: '2/h' } });
    await run();
    await run();
    await expect(run()).rejects.toThrow('2/h');
    expect(seen).toHaveLength(2);
  });
});
