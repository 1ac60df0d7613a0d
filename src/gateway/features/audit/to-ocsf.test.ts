// What other programs read of a line of the audit log.
import { expect, test } from 'vitest';
import type { AuditLine } from './audit-lines.ts';
import { toOcsf } from './to-ocsf.ts';

const SUCCESS = 1;
const FAILURE = 2;

test.each([
  ['definition', 'accepted', SUCCESS],
  ['definition', 'held', FAILURE],
  ['approval', 'given', SUCCESS],
  ['call', 'ok', SUCCESS],
  ['call', 'TIMEOUT', FAILURE],
  ['refusal', '', FAILURE],
])('the status of a line about a %s that is "%s" is %i', (kind, outcome, status) => {
  const line = { kind, outcome, seq: 1, time: '2026-11-19T00:00:00Z', server: 'files', name: 'read' } as AuditLine;
  expect(toOcsf(line, 'chain')).toMatchObject({ status_id: status });
});
