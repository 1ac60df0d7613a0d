// An audit log for docs/cli.md: always the same calls.
import { join } from 'node:path';
import type { AuditEvent } from '../../src/kernel/audit.ts';
import { AuditWriter } from '../../src/gateway/features/audit/audit-writer.ts';
import type { Home } from './parley.ts';

const call = (name: string, outcome: string, ms: number, given: object): AuditEvent => ({
  kind: 'call',
  principal: 'key:laptop',
  server: 'notes',
  method: 'tools/call',
  name,
  outcome,
  ms,
  details: { client: 'claude-code', arguments: given },
});

const EVENTS: AuditEvent[] = [
  call('read_note', 'ok', 4, { name: 'string(5)' }),
  {
    kind: 'approval',
    principal: 'key:laptop',
    server: 'notes',
    name: 'delete_note',
    outcome: 'given',
    details: { client: 'claude-code', way: 'page' },
  },
  call('delete_note', 'ok', 8213, { name: 'string(5)' }),
  call('search', 'tool_error', 61, { query: 'string(18)', limit: 'number' }),
  {
    kind: 'refusal',
    method: 'POST',
    name: '/mcp',
    outcome: 'UNAUTHORIZED',
    details: { status: 401, reason: 'the key or token is not valid', from: '127.0.0.1' },
  },
];

export function writeDocAudit(home: Home): void {
  const writer = new AuditWriter({ folder: join(home.path, 'state', 'parley', 'audit') });
  for (const event of EVENTS) writer.record(event);
  writer.close();
}
