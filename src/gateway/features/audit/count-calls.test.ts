import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import { createAuditLog } from './audit-log.ts';
import { countCalls } from './count-calls.ts';

it('calls of tools are counted by server and own name, from a time on, and nothing else is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-calls-'));
  const before = new Date(Date.now() - 1000);
  const log = createAuditLog({ folder, log: createLog({ level: 'silent' }) });
  const call = (server: string, name: string, outcome = 'ok') =>
    log.record({ kind: 'call', method: 'tools/call', server, name, outcome, principal: 'local' });
  for (const outcome of ['ok', 'ok', 'UPSTREAM_DOWN']) call('github', 'create', outcome);
  call('files', 'create');
  log.record({ kind: 'call', method: 'prompts/get', server: 'github', name: 'create', outcome: 'ok' });
  log.record({ kind: 'approval', method: 'tools/call', server: 'github', name: 'create', outcome: 'given' });
  await log.close();

  const counted = countCalls(before, folder);
  expect(counted.of('github', 'create')).toBe(3);
  expect(counted.of('files', 'create')).toBe(1);
  expect(counted.of('files', 'other')).toBe(0);
  expect(counted.from!.getTime()).toBeGreaterThanOrEqual(before.getTime());
  const later = countCalls(new Date(Date.now() + 60_000), folder);
  expect([later.of('github', 'create'), later.from]).toEqual([0, undefined]);
  expect(countCalls(before, join(folder, 'none')).from).toBeUndefined();
});
