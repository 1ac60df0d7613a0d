import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../kernel/audit.ts';
import { CallBodies, toBody } from './audit-lines.ts';

const USUAL: AuditEvent = {
  kind: 'call',
  exchange: 'x-1',
  principal: 'anonymous:session:#abc',
  server: 'disk',
  method: 'tools/call',
  name: 'read',
  decision: undefined,
  outcome: 'ok',
  ms: 1.5,
  details: { client: 'c', arguments: { path: 'string(7)' } },
};
const events: AuditEvent[] = [
  USUAL,
  { ...USUAL, exchange: 'x-2', outcome: 'server_error -32603', ms: 0 },
  { ...USUAL, details: { client: 'c', arguments: { '…': '3 more', '*': 'null' } } },
  { ...USUAL, details: { client: 'another', key: 'laptop', as: 'disk__read' } },
  { ...USUAL, name: undefined, principal: undefined, server: undefined },
  { ...USUAL, name: 'a "name"\u001b[2J\u202e\n', server: 'né' },
  { ...USUAL, name: 'n'.repeat(3000), details: { client: 'c'.repeat(3000) } },
  { ...USUAL, exchange: '"', outcome: '\u001b' },
  { ...USUAL, ms: NaN },
  { ...USUAL, decision: { rule: 'rules[0]', effect: 'allow' } },
  { ...USUAL, details: { client: 'c', findings: ['hidden'] } },
  { ...USUAL, details: { client: 'c', arguments: 'string(3)' } },
  { ...USUAL, details: { client: 'c', arguments: { text: `\u001b${'t'.repeat(3000)}` } } },
  { ...USUAL, details: undefined },
  { kind: 'call', method: 'ping', name: 'x', outcome: 'ok' },
];

describe('bodies of calls', () => {
  it('are the same text as any other body, whichever call came before', () => {
    const bodies = new CallBodies();
    for (const before of events)
      for (const event of events) {
        bodies.of(before);
        expect(bodies.of(event)).toBe(toBody(event));
      }
  });
});
