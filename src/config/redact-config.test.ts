import { describe, expect, it } from 'vitest';
import { normalizeConfig } from './normalize-config.ts';
import { redactConfig } from './redact-config.ts';

const used = new Map([
  ['abcd1234', '${TOKEN}'],
  ['abcd1234-long', '${LONGER}'],
  ['1', '${ONE}'],
]);

function shown(server: object): Record<string, unknown> {
  const config = normalizeConfig({ servers: { a: server } }, '/');
  return redactConfig(config, used).servers['a'] as unknown as Record<string, unknown>;
}

describe('arguments', () => {
  it.each([
    [
      ['--api-key', 'plain-secret'],
      ['--api-key', '[redacted]'],
    ],
    [
      ['--api-key', 'abcd1234'],
      ['--api-key', '${TOKEN}'],
    ],
    [['--token=plain'], ['--token=[redacted]']],
    [
      ['-e', 'MY_TOKEN=plain'],
      ['-e', 'MY_TOKEN=[redacted]'],
    ],
    [
      ['--header', 'Authorization: Bearer plain'],
      ['--header', 'Authorization: [redacted]'],
    ],
    [
      ['--header', 'Authorization: Bearer abcd1234'],
      ['--header', 'Authorization: Bearer ${TOKEN}'],
    ],
    [['sk-0123456789'], ['[redacted]']],
    [['https://me:plain@e.com/mcp?token=plain&x=1'], ['https://[redacted]@e.com/mcp?token=[redacted]&x=1']],
    [
      ['--token', '--verbose'],
      ['--token', '--verbose'],
    ],
    [
      ['-y', '@scope/server@1.2.3', '/a/path', '--port=1'],
      ['-y', '@scope/server@1.2.3', '/a/path', '--port=1'],
    ],
    [
      ['abcd1234-long/abcd1234', '1', '11'],
      ['${LONGER}/${TOKEN}', '${ONE}', '11'],
    ],
  ])('%j are shown as %j', (args, expected) => {
    expect(shown({ command: 'x', args })['args']).toEqual(expected);
  });
});

describe('URLs and headers', () => {
  it.each([
    ['https://e.com/s/0123456789abcdef0123456789/mcp', 'https://e.com/s/[redacted]/mcp'],
    ['https://e.com/abcd1234?key=abcd1234', 'https://e.com/${TOKEN}?key=${TOKEN}'],
    ['https://e.com/mcp?profile=free', 'https://e.com/mcp?profile=free'],
  ])('%s is shown as %s', (url, expected) => {
    expect(shown({ url })['url']).toBe(expected);
  });

  it('are shown when they are nothing but a variable', () => {
    const headers = { a: 'Bearer abcd1234', b: 'abcd1234', c: 'plain', d: 'plain abcd1234' };
    expect(shown({ url: 'https://e.com', headers })['headers']).toEqual({
      a: 'Bearer ${TOKEN}',
      b: '${TOKEN}',
      c: '[redacted]',
      d: '[redacted]',
    });
  });
});

describe('the rest', () => {
  it('hides keys for TLS, and options of steps that are called like secrets', () => {
    const pem = '-----BEGIN PRIVATE KEY-----';
    const steps = [{ mine: { password: 'plain', list: [{ apiKey: 'plain' }], other: 'shown', n: 1 } }];
    const config = normalizeConfig({ servers: {}, listen: { tls: { key: pem, cert: 'c.pem' } }, steps }, '/');
    const { listen, steps: shownSteps } = redactConfig(config);
    expect(listen.tls).toEqual({ key: '[redacted]', cert: '/c.pem' });
    expect(shownSteps).toEqual([
      { mine: { password: '[redacted]', list: [{ apiKey: '[redacted]' }], other: 'shown', n: 1 } },
    ]);
  });
});
