import { expect, test } from 'vitest';
import { GatewayError } from '../../../shared/errors.ts';
import { toStatelessError } from './serve-stateless.ts';

const status = (error: GatewayError) => (toStatelessError(error, 'x-1', false) as { status: number }).status;

test('an error that is not the client’s fault has status 200 and the exchange id in its body', () => {
  const closed = new GatewayError('UPSTREAM_CLOSED', { server: 'a', reason: 'gone' });
  expect(toStatelessError(closed, 'x-1', false)).toMatchObject({ status: 200, error: { data: { exchange: 'x-1' } } });
  expect(status(new GatewayError('STEP_MISUSED', { step: 'a', reason: 'b' }))).toBe(200);
  expect(status(new GatewayError('INTERNAL'))).toBe(200);
});

test('an error that is the client’s fault has the status of the table', () => {
  expect(status(new GatewayError('METHOD_NOT_FOUND', { method: 'm' }))).toBe(404);
  expect(status(new GatewayError('TOO_MANY', { what: 'calls', limit: 'maxInFlight' }))).toBe(429);
});
