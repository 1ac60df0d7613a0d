import { describe, expect, it } from 'vitest';
import { createGuard, isLoopback } from './guard.ts';
import type { GuardOptions } from './guard.ts';

function allows(headers: Record<string, string>, bound = '127.0.0.1', options: GuardOptions = {}): boolean {
  try {
    createGuard(bound, options).check({ headers });
    return true;
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'NOT_ALLOWED' });
    return false;
  }
}

describe('Host', () => {
  it.each(['localhost', 'localhost:3000', 'LOCALHOST', '127.0.0.1:80', '127.1.2.3', '[::1]', '[::1]:3000'])(
    '%s is this machine',
    (host) => expect(allows({ host })).toBe(true),
  );

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:3000',
    '10.0.0.1',
    '0.0.0.0',
    '',
    'localhost:x',
    '[::2]',
  ])('refuses %j on a loopback server', (host) => expect(allows({ host })).toBe(false));

  it('is required', () => expect(allows({})).toBe(false));

  it('may be any name beyond loopback, unless names are configured', () => {
    expect(allows({ host: 'mcp.example.com' }, '0.0.0.0')).toBe(true);
    const options = { allowedHosts: ['MCP.example.com'] };
    expect(allows({ host: 'mcp.EXAMPLE.com:443' }, '0.0.0.0', options)).toBe(true);
    expect(allows({ host: 'other.example.com' }, '0.0.0.0', options)).toBe(false);
    expect(allows({ host: 'localhost' }, '0.0.0.0', options)).toBe(true);
    expect(allows({ host: 'mcp.example.com' }, '127.0.0.1', options)).toBe(true);
  });
});

describe('Origin', () => {
  const from = (origin: string, options?: GuardOptions) => allows({ host: 'localhost', origin }, '127.0.0.1', options);

  it.each([
    ['localhost', 'http://localhost'],
    ['LOCALHOST:4000', 'https://localhost:4000'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['[::1]:3000', 'http://[::1]:3000'],
  ])('a page of the server itself may call: %s, %s', (host, origin) => expect(allows({ host, origin })).toBe(true));

  it.each(['http://localhost:5173', 'https://localhost:5173', 'http://127.0.0.1', 'http://[::1]'])(
    'a page of another program on this machine may not: %s',
    (origin) => expect(from(origin)).toBe(false),
  );

  it('proves nothing where every Host is taken, and something where names are configured', () => {
    const headers = { host: 'mcp.example.com', origin: 'https://mcp.example.com' };
    expect(allows(headers, '0.0.0.0')).toBe(false);
    expect(allows(headers, '0.0.0.0', { allowedHosts: ['mcp.example.com'] })).toBe(true);
  });

  it.each([
    'null',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://localhost@evil.example',
    'http://evil.example/localhost',
    'file://',
    'localhost',
    '',
    'http://localhost/',
  ])('a page from %j may not', (origin) => expect(from(origin)).toBe(false));

  it('may be one of the configured ones', () => {
    const options = { allowedOrigins: ['https://App.example.com'] };
    expect(from('https://app.example.com', options)).toBe(true);
    expect(from('https://app.example.com:8443', options)).toBe(false);
    expect(from('http://app.example.com', options)).toBe(false);
  });
});

it('isLoopback accepts the loopback names and 127/8', () => {
  expect(['localhost', '127.0.0.1', '127.8.8.8', '::1', '[::1]'].every(isLoopback)).toBe(true);
  expect(['0.0.0.0', '::', '128.0.0.1', '', '127.0.0', 'localhost.'].some(isLoopback)).toBe(false);
});

describe('the public URL', () => {
  const options = { publicUrl: 'https://MCP.example.com/gateway/', allowedHosts: ['other.example.com'] };

  it('is an accepted Host and the origin of our pages', () => {
    const host = 'mcp.example.com';
    expect(allows({ host, origin: 'https://mcp.example.com' }, '127.0.0.1', options)).toBe(true);
    expect(allows({ host, origin: 'http://mcp.example.com' }, '127.0.0.1', options)).toBe(false);
    expect(allows({ host, origin: 'https://mcp.example.com.evil.example' }, '127.0.0.1', options)).toBe(false);
    expect(allows({ host: 'evil.example' }, '127.0.0.1', options)).toBe(false);
  });

  it.each(['mcp.example.com', 'javascript:x', ''])('cannot be %j', (publicUrl) => {
    expect(() => createGuard('127.0.0.1', { publicUrl })).toThrow('publicUrl');
  });
});
