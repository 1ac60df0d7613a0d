import { describe, expect, it } from 'vitest';
import { Audience } from '../../../kernel/events/audience.ts';
import { ObservedCall } from '../../../kernel/events/observed-call.ts';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import { InternalExchange } from '../../../kernel/internal-exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { toShape } from './argument-shape.ts';
import { toBody } from './audit-lines.ts';
import { CallBodies } from './call-bodies.ts';
import { toCallEvent } from './audit-watcher.ts';

const audience = new Audience([], () => {});

interface Facts {
  params?: JsonObject;
  method?: string;
  client?: object;
  server?: string;
  exchange?: Partial<Exchange>;
  call?: Partial<Pick<ObservedCall, 'name' | 'findings' | 'ms' | 'outcome'>>;
}

function callOf({ params = { name: 'read', arguments: { path: '/x' } }, client, server, ...facts }: Facts = {}) {
  const view = { info: { name: 'c', version: '1' }, principal: 'local', ...client } as ClientView;
  const exchange = new InternalExchange(facts.method ?? 'tools/call', params, view);
  Object.assign(exchange, facts.exchange);
  const call = new ObservedCall(exchange, { begun: 0, audience, server: server ?? 'disk' });
  return Object.assign(call, { outcome: 'ok', ms: 1.5 }, facts.call);
}

const key = { connection: { identity: { principal: 'ann', key: 'laptop' } } };
const usual = [
  callOf(),
  callOf({ call: { outcome: 'server_error -32603', ms: 0 } }),
  callOf({ call: { ms: 0.3 } }),
  callOf({ call: { ms: 1_234_567.9 } }),
  callOf({ call: { ms: 60 } }),
  callOf({ params: { name: 'read' } }),
  callOf({ params: { name: 'read', arguments: {} } }),
  callOf({ params: { name: 'read', arguments: { a: 1, b: null, c: [1], d: { e: 1 }, 'f.g-h': true } } }),
  callOf({ params: { name: 'disk__read' }, call: { name: 'read' } }),
  callOf({ client: { ...key, info: { name: 'another', version: '2' } } }),
  callOf({ client: { principal: 'anonymous:session:secret' } }),
  callOf({ params: { name: 'a "name"\u001b[2J\u202e\n' }, server: 'né' }),
  callOf({ params: { name: 'n'.repeat(3000) }, client: { info: { name: 'c'.repeat(3000), version: '1' } } }),
  callOf({ method: 'custom/method', params: {} }),
];
const unusual = [
  callOf({ call: { outcome: '\u001b' } }),
  callOf({ call: { ms: NaN } }),
  callOf({ call: { ms: 0.123 } }),
  callOf({ call: { ms: 0.1 + 0.2 } }),
  callOf({ call: { findings: ['hidden'] } }),
  callOf({ exchange: { decision: { rule: 'rules[0]', effect: 'allow' } } }),
  callOf({ exchange: { id: '"' } }),
  callOf({ params: { name: 'read', arguments: 'text' } }),
  callOf({ params: { name: 'read', arguments: { 'ann@example.com': 1 } } }),
  callOf({ params: { name: 'read', arguments: JSON.parse('{"__proto__": {"x": 1}}') as JsonObject } }),
  callOf({
    params: { name: 'read', arguments: Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`a${at}`, 1])) },
  }),
];

describe('bodies of calls', () => {
  it('are the same text as the body of their event, whichever call came before', () => {
    const bodies = new CallBodies();
    for (const before of [...usual, ...unusual])
      for (const call of usual) {
        bodies.of(before, before.outcome);
        const event = toCallEvent(call, { outcome: call.outcome, showArguments: toShape });
        expect(bodies.of(call, call.outcome)).toBe(toBody(event));
      }
  });

  it('are left to their event if something about the call is unusual', () => {
    for (const call of unusual) expect(new CallBodies().of(call, call.outcome)).toBe(undefined);
  });
});
