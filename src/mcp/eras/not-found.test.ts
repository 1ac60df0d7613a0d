import { describe, expect, it } from 'vitest';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { toHandshakeError } from './handshake/handshake-client-dialect.ts';
import { featuresOf } from './handshake/features.ts';
import type { ServedExchange } from './serve/served-exchange.ts';
import { toStatelessError } from './stateless/stateless-client-dialect.ts';

const exchange = { id: 'x', method: 'resources/read' } as ServedExchange;
const missing = (code: number, dialect: string) =>
  new GatewayError('RESOURCE_NOT_FOUND', { uri: 'a:', origin: new ProtocolError(code, 'Gone', { why: 1 }), dialect });
const handshake = (error: GatewayError, revision: string) =>
  toHandshakeError(error, exchange, featuresOf(revision)) as { error: object };

describe('a resource that a server does not have', () => {
  it.each([-32002, -32602])('is reported with the server’s code within one era: %d', (code) => {
    const said = { code, message: 'Gone', data: { why: 1 } };
    for (const revision of ['2024-11-05', '2025-06-18', '2025-11-25']) {
      expect(handshake(missing(code, 'handshake'), revision).error).toEqual(said);
    }
    expect(toStatelessError(missing(code, 'stateless'), 'x', false)).toEqual({ error: said, status: 200 });
  });

  it('keeps its message and data between eras; the code changes only if the client’s era forbids it', () => {
    const said = { message: 'Gone', data: { why: 1 } };
    expect(handshake(missing(-32602, 'stateless'), '2025-11-25').error).toEqual({ code: -32602, ...said });
    const told = toStatelessError(missing(-32002, 'handshake'), 'x', false);
    expect(told).toEqual({ error: { code: -32602, ...said }, status: 200 });
  });

  it('is always reported with the mcp-chain code to 2025-03-26 clients', () => {
    expect(handshake(missing(-32602, 'handshake'), '2025-03-26').error).toMatchObject({ code: -32002 });
  });

  it('is reported with our message if the server gave none', () => {
    const own = new GatewayError('RESOURCE_NOT_FOUND', { uri: 'a:' });
    expect(handshake(own, '2025-11-25').error).toMatchObject({ code: -32002, data: { uri: 'a:' } });
  });
});
