import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { parseExactly, writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { FakeExchange, chainOf } from '../../../kernel/fake-exchange.contract.ts';
import { redact } from './redact.ts';
import type { RedactOptions } from './redact.ts';

const options: RedactOptions = { patterns: ['s3cret-\\d+', /pin:\s*\d{4}/i], keys: ['password', '*_token'] };
const through = (result: JsonObject, method = 'tools/call', given = options) =>
  chainOf([redact(given)], () => result)(method);

describe('redact', () => {
  it('replaces what matches a pattern, at any depth', async () => {
    const result = {
      content: [{ type: 'text', text: 'a s3cret-1 b s3cret-22 PIN: 1234' }],
      n: { m: ['s3cret-3', 4, null] },
    };
    expect(await through(result)).toEqual({
      content: [{ type: 'text', text: 'a [redacted] b [redacted] [redacted]' }],
      n: { m: ['[redacted]', 4, null] },
    });
  });

  it('keeps numbers beside what it replaces as they were sent, also in a text that is JSON', async () => {
    const sent =
      '{"id":12345678901234567890,"list":[1.0,{"password":"x","n":1e400}],"content":[{"text":"{\\"big\\":12345678901234567890,\\"password\\":\\"x\\"}"}]}';
    const kept = sent.replaceAll('"x"', '"[redacted]"').replaceAll('\\"x\\"', '\\"[redacted]\\"');
    expect(writeExactly(await through(parseExactly(sent) as JsonObject))).toBe(kept);
  });

  it('replaces the values of keys whole, whatever they are', async () => {
    const structuredContent = { Password: 'x', list: [{ api_token: { deep: 1 }, id: 7 }], password: null };
    expect(await through({ structuredContent })).toEqual({
      structuredContent: { Password: '[redacted]', list: [{ api_token: '[redacted]', id: 7 }], password: null },
    });
  });

  it('finds keys in JSON that is sent as text, and leaves other text as it is', async () => {
    const text = (value: unknown) => ({ content: [{ type: 'text', text: value }] });
    expect(await through(text('{"user":"a","password":"b"}'))).toEqual(text('{"user":"a","password":"[redacted]"}'));
    expect(await through(text('[\n  {"password":"b"}\n]'))).toEqual(
      text('[\n  {\n    "password": "[redacted]"\n  }\n]'),
    );
    for (const same of ['{ "user" : 1 }', '{not json: password}', 'password: x']) {
      expect(await through(text(same))).toEqual(text(same));
    }
  });

  it('values without secrets pass unchanged', async () => {
    const result = { content: [{ type: 'text', text: 'fine' }] };
    expect(await through(result)).toBe(result);
  });

  it('leaves keys in the schemas of lists alone', async () => {
    const tools = [
      { name: 'login', description: 's3cret-1', inputSchema: { properties: { password: { type: 'string' } } } },
    ];
    expect(await through({ tools }, 'tools/list')).toEqual({ tools: [{ ...tools[0], description: '[redacted]' }] });
  });

  it('sees progress, log messages, notifications and questions', async () => {
    const exchange = new FakeExchange('tools/call');
    await chainOf([redact(options)], (inner) => {
      inner.progress({ progress: 1, message: 'got s3cret-1' });
      inner.log({ level: 'info', data: { password: 'x', text: 's3cret-2' } });
      inner.notify('notifications/custom', { my_token: 'x' });
      return inner.ask({ method: 'elicitation/create', params: { message: 'Is s3cret-3 right?' } });
    })(exchange);
    expect(exchange.sent).toEqual([
      { progress: 1, message: 'got [redacted]' },
      { level: 'info', data: { password: '[redacted]', text: '[redacted]' } },
      { method: 'notifications/custom', params: { my_token: '[redacted]' } },
      { method: 'elicitation/create', params: { message: 'Is [redacted] right?' } },
    ]);
  });

  it('sees errors, and what servers have said in them', async () => {
    const failing = (error: Error) => {
      const last = () => {
        throw error;
      };
      return chainOf([redact(options)], last)('tools/call');
    };
    await expect(failing(new ProtocolError(-32050, 'bad s3cret-1', { password: 'x' }))).rejects.toMatchObject({
      code: -32050,
      message: 'bad [redacted]',
      data: { password: '[redacted]' },
    });
    const origin = new ProtocolError(-32602, 'no s3cret-2');
    const details = { server: 'a', reason: 'stderr: s3cret-1', origin, retryAfterMs: 5 };
    await expect(failing(new GatewayError('UPSTREAM_CLOSED', details))).rejects.toMatchObject({
      message: 'The connection to a closed: stderr: [redacted]',
      details: { origin: { message: 'no [redacted]' } },
      retryAfterMs: 5,
    });
  });

  it('sees what clients are told without having asked', () => {
    const { onChange } = redact(options);
    const entry = { level: 'info' as const, data: 's3cret-1' };
    expect(onChange!({ kind: 'log', entry })).toEqual({ kind: 'log', entry: { level: 'info', data: '[redacted]' } });
  });

  it('knows the secrets of well-known services by itself', async () => {
    const found = [
      `AKIA${'A'.repeat(16)}`,
      `ghp_${'a1'.repeat(18)}`,
      `sk-${'b2'.repeat(12)}`,
      'xoxb-1234567890-abc',
      `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`,
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
    ];
    for (const secret of found) {
      expect(await through({ text: `key=${secret}.` }, 'tools/call', {})).toEqual({ text: 'key=[redacted].' });
    }
    const sealed = `v1.abc-sk-${'b2'.repeat(12)}`;
    expect(await through({ nextCursor: sealed }, 'tools/list', {})).toEqual({ nextCursor: sealed });
  });

  it('an invalid pattern is refused', () => {
    expect(() => redact({ patterns: ['('] })).toThrow(/^redact.patterns: SyntaxError/);
  });
});
