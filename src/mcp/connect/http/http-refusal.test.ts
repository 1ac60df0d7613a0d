import { expect, test } from 'vitest';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { HttpRefusal, fromRefusal } from './http-refusal.ts';

const body = (code: number, message = 'words', data?: unknown) => ({
  jsonrpc: '2.0',
  id: 1,
  error: { code, message, data },
});

function read(status: number, content: unknown = '', retryAfterMs?: number) {
  const error = fromRefusal(new HttpRefusal(status, content, retryAfterMs), 'http://x/mcp');
  if (error instanceof ProtocolError) return { code: error.code, message: error.message, data: error.data };
  expect(error).toBeInstanceOf(GatewayError);
  const { code, details, message, retryAfterMs: wait } = error as GatewayError;
  return { code, status: details.status, session: details.session, wait, message };
}

test.each([401, 403])('%i is about credentials, whatever the body says', (status) => {
  expect(read(status, body(-32022))).toMatchObject({ code: 'UPSTREAM_UNAUTHORIZED', status });
});

test('429 is a busy server, with its own words and how long to wait', () => {
  expect(read(429)).toMatchObject({ code: 'UPSTREAM_BUSY', wait: undefined, status: 429 });
  expect(read(429, '', 2000)).toMatchObject({ code: 'UPSTREAM_BUSY', wait: 2000 });
  expect(read(429, body(-32000, 'slow down', { retryAfterMs: 700 }), 2000)).toMatchObject({
    wait: 700,
    message: 'http://x/mcp is too busy: HTTP 429: slow down',
  });
});

test('503 is a busy server when it says for how long, and an outage otherwise', () => {
  expect(read(503, '', 1000)).toMatchObject({ code: 'UPSTREAM_BUSY', wait: 1000 });
  expect(read(503)).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', status: 503, session: undefined });
});

test('404 is a lost session, unless the body is about something else', () => {
  expect(read(404)).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', session: 'lost' });
  expect(read(404, body(-32001, 'Session not found'))).toMatchObject({ session: 'lost' });
  expect(read(404, body(-32601))).toEqual({ code: -32601, message: 'words', data: undefined });
  expect(read(404, body(-32602, 'Unknown tool'))).toMatchObject({ code: -32602 });
});

test('400 is a lost session when it says so, as the servers of the SDK examples do', () => {
  expect(read(400, body(-32000, 'Bad Request: No valid session ID provided'))).toMatchObject({
    session: 'lost',
    status: 400,
  });
  expect(read(400, body(-32000, 'Bad Request'))).toMatchObject({ code: -32000 });
  expect(read(400, body(-32602, 'no such session in the theatre'))).toMatchObject({ code: -32602 });
});

test('other 4xx with JSON-RPC is the error of the server; without it the status is all that is known', () => {
  expect(read(400, body(-32022, 'no', { supported: ['x'] }))).toMatchObject({
    code: -32022,
    data: { supported: ['x'] },
  });
  expect(read(400, '<html>secret</html>')).toMatchObject({
    code: 'UPSTREAM_UNREACHABLE',
    status: 400,
    message: 'Cannot reach http://x/mcp: HTTP 400',
  });
  expect(read(400, { error: 'invalid_request' })).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
  expect(read(400, { error: { code: 'x', message: 5 } })).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
});

test('5xx is an outage also with JSON-RPC, whose words are kept and whose length is not', () => {
  expect(read(500, body(-32603, 'boom'))).toMatchObject({
    message: 'http://x/mcp failed: HTTP 500: boom',
    status: 500,
  });
  expect(read(500, '<html>')).toMatchObject({ message: 'Cannot reach http://x/mcp: HTTP 500' });
  expect(read(500, body(-32603, 'x'.repeat(10_000))).message.length).toBeLessThan(600);
});

test('a redirect that was not followed says where it leads', () => {
  expect(read(307, 'redirect to another origin, http://y, not followed').message).toContain('http://y');
  expect(read(302, { moved: true }).message).toMatch(/HTTP 302$/);
});
