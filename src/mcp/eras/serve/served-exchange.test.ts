import { expect, test } from 'vitest';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { logFailure } from './served-exchange.ts';

function logged(error: GatewayError | ProtocolError): Record<string, unknown>[] {
  const lines: string[] = [];
  const log = createLog({ write: (text) => void lines.push(text) });
  logFailure(log, { id: 'x-1', method: 'tools/call', server: 'a' }, error);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a failure that is not the client’s fault is logged under the id that the client gets', () => {
  const closed = new GatewayError('UPSTREAM_CLOSED', { server: 'a', reason: 'exit code 9' });
  const about = { event: 'exchange.failed', exchange: 'x-1', method: 'tools/call' };
  expect(logged(closed)).toMatchObject([{ ...about, level: 'warn', server: 'a', code: 'UPSTREAM_CLOSED' }]);
  const internal = new GatewayError('INTERNAL', {}, { cause: new Error('why') });
  expect(logged(internal)).toMatchObject([{ ...about, level: 'error', cause: { message: 'why' } }]);
});

test('the client’s own mistakes and a server’s own errors are not logged as failures', () => {
  expect(logged(new GatewayError('TOOL_NOT_FOUND', { name: 'x' }))).toEqual([]);
  expect(logged(new ProtocolError(-32603, 'no'))).toEqual([]);
});
