import { describe, expect, it } from 'vitest';
import { ERRORS } from './error-table.ts';
import type { ErrorCode } from './error-table.ts';
import { GatewayError, ProtocolError, toError } from './errors.ts';

describe('a thrown value', () => {
  it('a thrown value of our own passes unchanged', () => {
    for (const error of [new GatewayError('CANCELLED'), new ProtocolError(1, 'x')]) expect(toError(error)).toBe(error);
  });

  it('a thrown value of the official SDK keeps its code, message and data', () => {
    const thrown = Object.assign(new Error('MCP error -32602: no'), { code: -32602, data: { a: 1 } });
    expect(toError(thrown)).toMatchObject({ code: -32602, message: 'MCP error -32602: no', data: { a: 1 } });
  });

  it.each([
    ['a system error', Object.assign(new Error('ENOENT: /etc/secret'), { code: 'ENOENT', errno: -2 })],
    ['a database error', Object.assign(new Error('dup key: {secret}'), { code: 11000 })],
    ['a gRPC error', Object.assign(new Error('10.0.0.7 refused'), { code: 14 })],
    ['a time-out', new DOMException('secret took too long', 'TimeoutError')],
    ['text', 'secret'],
    ['nothing', undefined],
    ['an object', { code: -32602, message: 'secret' }],
  ])('becomes an internal error whose message is only logged: %s', (_, thrown) => {
    const error = toError(thrown) as GatewayError;
    expect(error.code).toBe('INTERNAL');
    expect(error.message).toBe('Internal error');
    expect(error.cause).toBe(thrown);
  });
});

describe('the error table', () => {
  it('the error table has a message, a hint, a JSON-RPC code and an HTTP status in each row', () => {
    for (const [code, row] of Object.entries(ERRORS)) {
      expect(row.message, code).not.toBe('');
      expect(row.hint, code).toMatch(/\.$/);
      expect(row.code, code).toBeGreaterThanOrEqual(-32768);
      expect(row.code, code).toBeLessThanOrEqual(-32000);
      expect(row.status >= 200 && row.status < 600, code).toBe(true);
    }
  });

  it('fills messages from the details, and leaves the name of a missing one', () => {
    expect(new GatewayError('TOOL_NOT_FOUND', { name: 'x' }).message).toBe('Unknown tool: x');
    expect(new GatewayError('TOOL_NOT_FOUND').message).toBe('Unknown tool: name');
    expect(new GatewayError('TOOL_NOT_FOUND', { name: '{name} $& $1' }).message).toBe('Unknown tool: {name} $& $1');
    const codes = Object.keys(ERRORS) as ErrorCode[];
    for (const code of codes) expect(new GatewayError(code).message).not.toContain('{');
  });
});
