import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../protocol/audit.ts';
import { createServer } from '../../server/create-server.ts';
import { testGateway } from '../../testing/test-gateway.ts';
import { createLog } from '../../shared/log.ts';
import type { GatewayOptions } from '../gateway.ts';
import { approve } from '../middleware/steps/approve/approve.ts';
import { toShape } from './argument-shape.ts';

const log = createLog({ level: 'silent' });

function files(name: string) {
  const server = createServer({ name, version: '1', log });
  server.tool('read', {}, () => 'fine');
  server.tool('fail', {}, () => {
    throw new Error('no such file');
  });
  return server;
}

async function recording(options: Partial<GatewayOptions> = {}) {
  const events: AuditEvent[] = [];
  const servers = { disk: files('disk'), net: files('net') };
  const tested = await testGateway({ servers, audit: (event) => events.push(event), ...options });
  return { events, ...tested };
}

describe('calls', () => {
  it('are recorded with who, what, the outcome, the duration and the shape of the arguments', async () => {
    const { events, client, close } = await recording();
    await client.callTool('disk__read', { path: '/secret', deep: { a: 1 }, list: [1, 2], on: true, none: null });
    await client.callTool('net__fail').catch(() => {});
    await client.callTool('net__unknown').catch(() => {});
    await close();
    expect(events).toMatchObject([
      {
        kind: 'call',
        exchange: expect.any(String),
        principal: expect.stringMatching(/^(local|anonymous:transport:#[\w-]{12})$/),
        server: 'disk',
        method: 'tools/call',
        name: 'read',
        outcome: 'ok',
        ms: expect.any(Number),
        details: {
          as: 'disk__read',
          arguments: { path: 'string(7)', deep: 'object(1)', list: 'array(2)', on: 'boolean', none: 'null' },
        },
      },
      { server: 'net', name: 'fail', outcome: 'tool_error' },
      { server: 'net', name: 'unknown', outcome: 'TOOL_NOT_FOUND' },
    ]);
    expect(JSON.stringify(events)).not.toContain('/secret');
  });

  it('are recorded with the decision of a rule', async () => {
    const decision = { rule: 'rules[0]', effect: 'allow' } as const;
    const steps: GatewayOptions['steps'] = [
      (exchange, next) => {
        exchange.decision = decision;
        return next();
      },
    ];
    const { events, client, close } = await recording({ steps });
    await client.callTool('disk__read');
    await close();
    expect(events).toMatchObject([{ name: 'read', decision }]);
  });

  it('are recorded with what a person answered', async () => {
    const { events, client, close } = await recording({ steps: [approve({ when: 'always' })] });
    await client.callTool('disk__read').catch(() => {});
    await close();
    const [receipt] = events.filter(({ kind }) => kind === 'approval');
    const [call] = events.filter(({ kind }) => kind === 'call');
    expect(call).toMatchObject({ name: expect.stringContaining('read'), outcome: expect.any(String) });
    if (receipt) expect(receipt).toMatchObject({ outcome: expect.stringMatching(/given|refused/) });
  });
});

describe('the shape of arguments', () => {
  it('shows no value, and no name that may be one', () => {
    expect(toShape({ 'ann@example.com': 1, 'a b': 's', __proto: 2 })).toEqual({ '*': 'string(1)', __proto: 'number' });
    expect(toShape('whole')).toBe('string(5)');
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`a${index}`, index]));
    expect(toShape(many)).toMatchObject({ a19: 'number', '…': '5 more' });
    expect(Object.keys(toShape(JSON.parse('{"__proto__": {"x": 1}}')) as object)).toEqual(['*']);
  });
});
