import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../../mcp/eras/fake-views.contract.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { toTargetError } from './target-errors.ts';

const told = (
  thrown: unknown,
  method = 'tools/call',
  params: JsonObject = {},
  dialect: 'handshake' | 'stateless' = 'stateless',
  spoken: 'handshake' | 'stateless' = 'handshake',
) =>
  toTargetError(thrown, { method, params, client: SPEAKING[dialect] as ClientView } as Exchange, {
    name: 'srv',
    spoken: SPEAKING[spoken],
  });

const toldBy2026 = (thrown: unknown) => told(thrown, 'tools/call', {}, 'stateless', 'stateless');

describe('what a server says of its errors', () => {
  it.each([
    ['tools/call', { name: 'x' }, new ProtocolError(-32602, 'Unknown tool: x'), 'TOOL_NOT_FOUND'],
    ['tools/call', { name: 'x' }, new ProtocolError(-32001, 'Tool not found'), 'TOOL_NOT_FOUND'],
    ['prompts/get', { name: 'x' }, new ProtocolError(-32602, 'Prompt x not found'), 'PROMPT_NOT_FOUND'],
    ['resources/read', { uri: 'a:' }, new ProtocolError(-32002, 'gone'), 'RESOURCE_NOT_FOUND'],
    ['resources/read', { uri: 'a:' }, new ProtocolError(-32602, 'gone', { uri: 'a:' }), 'RESOURCE_NOT_FOUND'],
    ['no/such', {}, new ProtocolError(-32601, 'Method not found'), 'METHOD_NOT_FOUND'],
  ])('%s: “there is no such thing” is told to each client in its own words', (method, params, thrown, code) => {
    expect(told(thrown, method, params)).toMatchObject({ code, details: { origin: thrown } });
  });

  it('a missing capability is about the client that we call for', () => {
    const data = { requiredCapabilities: { sampling: {} } };
    const refused = [toldBy2026(new ProtocolError(-32021, 'no', data)), told(new ProtocolError(-32603, 'no', data))];
    for (const one of refused) {
      expect(one).toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED', details: { ...data, what: 'sampling' } });
    }
    const passed = new ProtocolError(-32603, 'no', data);
    expect(told(passed, 'prompts/get', {}, 'handshake')).toBe(passed);
    expect(toldBy2026(new ProtocolError(-32021, 'odd'))).toMatchObject({ message: 'The client cannot be asked: odd' });
  });

  it('an error about our own envelope or headers is not the client’s fault', () => {
    for (const code of [-32020, -32022]) {
      expect(toldBy2026(new ProtocolError(code, 'wrong header'))).toMatchObject({
        code: 'UPSTREAM_INVALID',
        details: { server: 'srv', reason: 'wrong header' },
      });
    }
  });

  it('numbers that only the stateless era gives a meaning are the server’s own in the handshake era', () => {
    for (const code of [-32020, -32021, -32022]) {
      const own = new ProtocolError(code, 'Mine');
      expect(told(own, 'tools/call', {}, 'handshake')).toBe(own);
    }
  });

  it('everything else passes unchanged', () => {
    const own = new ProtocolError(-32050, 'Out of order', { since: 'today' });
    expect(told(own)).toBe(own);
    const bad = new ProtocolError(-32602, 'Bad argument: depth');
    expect(told(bad)).toBe(bad);
    const odd = new TypeError('odd');
    expect(told(odd)).toBe(odd);
    const mine = new GatewayError('UPSTREAM_BUSY', { server: 'srv', reason: 'x' });
    expect(told(mine)).toBe(mine);
  });

  it('a tool call that did not finish has its own error', () => {
    const lost = new GatewayError('UPSTREAM_CLOSED', { server: 'srv', reason: 'gone' });
    expect(told(lost)).toMatchObject({ code: 'TOOL_UNREACHABLE', cause: lost });
    expect(told(lost, 'tools/list')).toBe(lost);
  });
});

it('an error of a connection names the server and its address', () => {
  const closed = (server: string) => new GatewayError('UPSTREAM_CLOSED', { server, reason: 'exit code 9' });
  expect(told(closed('node'), 'tools/list')).toMatchObject({
    message: 'The connection to srv (node) closed: exit code 9',
  });
  expect(told(closed('node'))).toMatchObject({ details: { reason: expect.stringContaining('srv (node)') as unknown } });
  for (const named of [closed('srv'), closed('srv (node)')]) expect(told(named, 'tools/list')).toBe(named);
});
