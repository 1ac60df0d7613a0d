import { describe, expect, it } from 'vitest';
import { cookiesNamed, isOwnOrigin, toSetCookie } from './browser-request.ts';

describe('cookiesNamed', () => {
  it('finds a cookie by its whole name, with or without spaces', () => {
    const header = 'xparley-login=no; parley-login=a=b;parley-login-2=no;  other=1';
    expect(cookiesNamed('parley-login', header)).toEqual(['a=b']);
    expect(cookiesNamed('other', header)).toEqual(['1']);
  });

  it('finds nothing without a header, or where the name is another', () => {
    expect([cookiesNamed('a', undefined), cookiesNamed('a', ''), cookiesNamed('a', 'A=1; b=a=1')]).toEqual([
      [],
      [],
      [],
    ]);
  });

  it('gives all cookies of a name in their order, so that a second one can be noticed', () => {
    expect(cookiesNamed('a', 'a=1; b=2; a=')).toEqual(['1', '']);
  });
});

describe('toSetCookie', () => {
  it('hides the cookie from scripts, and is secure only where told so', () => {
    const cookie = { name: 'a', content: 'b', path: '/ask', seconds: 60, sameSite: 'Lax' as const };
    const plain = 'a=b; Path=/ask; Max-Age=60; HttpOnly; SameSite=Lax';
    expect(toSetCookie({ ...cookie, isSecure: false })).toBe(plain);
    expect(toSetCookie({ ...cookie, isSecure: true })).toBe(`${plain}; Secure`);
  });
});

describe('isOwnOrigin', () => {
  const local = 'http://127.0.0.1:3000';
  const proxied = 'https://mcp.example.com/gateway';

  function visit(origin: string | undefined, host: string, { site, isTls }: { site?: string; isTls?: boolean } = {}) {
    const headers = { origin, host, ...(site !== undefined && { 'sec-fetch-site': site }) };
    const socket: object = isTls ? { encrypted: true } : {};
    return { headers, socket };
  }

  it.each([
    ['the base', local, visit(local, '127.0.0.1:3000')],
    ['another name of this port', local, visit('http://localhost:3000', 'localhost:3000')],
    ['the base behind a proxy that keeps the Host', proxied, visit('https://mcp.example.com', 'mcp.example.com')],
    ['the base behind a proxy that changes the Host', proxied, visit('https://mcp.example.com', '127.0.0.1:3000')],
    ['another name of that proxy', proxied, visit('https://other.example.com', 'other.example.com')],
    ['a port that speaks https itself', local, visit('https://box.local', 'box.local', { isTls: true })],
    [
      'a proxy that speaks https, if the browser says that it is the same origin',
      local,
      visit('https://mcp.example.com', 'mcp.example.com', { site: 'same-origin' }),
    ],
    ['the same origin, says the browser', local, visit(local, '127.0.0.1:3000', { site: 'same-origin' })],
  ])('takes a form of %s', (_, base, request) => {
    expect(isOwnOrigin(request, new URL(base))).toBe(true);
  });

  it.each([
    ['another site', local, visit('https://evil.example', '127.0.0.1:3000')],
    ['another port', local, visit('http://127.0.0.1:1', '127.0.0.1:3000')],
    ['no origin', local, visit(undefined, '127.0.0.1:3000')],
    ['an opaque origin', local, visit('null', '127.0.0.1:3000')],
    ['an origin that is not a URL', local, visit('127.0.0.1:3000', '127.0.0.1:3000')],
    ['https at a base of http', local, visit('https://127.0.0.1:3000', '127.0.0.1:3000')],
    ['https at another name of a port of http', local, visit('https://localhost:3000', 'localhost:3000')],
    ['http at a base of https', proxied, visit('http://mcp.example.com', 'mcp.example.com')],
    ['http at a port that speaks https', local, visit('http://box.local', 'box.local', { isTls: true })],
    ['our origin, which the browser calls cross-site', local, visit(local, '127.0.0.1:3000', { site: 'cross-site' })],
    ['our origin, which the browser calls same-site', local, visit(local, '127.0.0.1:3000', { site: 'same-site' })],
  ])('refuses a form of %s', (_, base, request) => {
    expect(isOwnOrigin(request, new URL(base))).toBe(false);
  });
});
