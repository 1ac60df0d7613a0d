import { describe, expect, it } from 'vitest';
import { GatewayError } from '../base/errors.ts';
import { registerArgumentSecrets, registerSecret, registerUrlSecrets } from './secret-shapes.ts';
import { Secrets, secrets } from './secrets.ts';

function masking(...values: string[]): Secrets {
  const known = new Secrets();
  for (const value of values) known.add(value);
  return known;
}

describe('the mask', () => {
  const value = 'p4ss w/ord+"ü"';
  const known = masking(value);

  it.each([
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    encodeURIComponent(value).replaceAll('%2F', '%2f').replaceAll('%C3%BC', '%c3%bc').replaceAll('%2B', '%2b'),
    new URLSearchParams({ value }).toString().slice('value='.length),
  ])('hides a secret written as %s', (spelled) => {
    expect(known.mask(`before ${spelled} after`)).toBe('before [redacted] after');
  });

  it.each(['', 'a', 'ab', 'abc', 'user:'])('hides it in base64 behind "%s"', (before) => {
    for (const alphabet of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${before}${value} and more`).toString(alphabet);
      const shown = known.mask(encoded);
      expect(shown).toContain('[redacted]');
      const left = shown.split('[redacted]').map((part) => Buffer.from(part, alphabet).toString());
      expect(left.join(' ')).not.toMatch(/p4ss|ord/);
    }
  });

  it('hides short values only where they stand alone, and the shortest nowhere', () => {
    const short = masking('pin12', 'abc');
    expect(short.mask('pin12, "pin12" spin12 pin123 abc')).toBe('[redacted], "[redacted]" spin12 pin123 abc');
  });

  it('hides values of six and seven characters anywhere, and encoded, if they mix letters and digits', () => {
    const mixed = masking('abc1234');
    expect(mixed.mask('xabc1234y abc1234')).toBe('x[redacted]y [redacted]');
    expect(mixed.mask(btoa('user:abc1234'))).not.toContain(btoa('user:abc1234').slice(7, -2));
  });

  it.each([
    ['Authorization: Bearer zY8-q.w~e+r/t=', 'Authorization: Bearer [redacted]'],
    ['"authorization":"Bearer zY8qwert"', '"authorization":"Bearer [redacted]"'],
    ['got bearer opaque', 'got bearer [redacted]'],
    ['Basic dXNlcjpwYXNz, twice', 'Basic [redacted], twice'],
    ['DPoP token-1-of-somebody', 'DPoP [redacted]'],
    ['POST /token?access_token=zY8q&x=1', 'POST /token?access_token=[redacted]&x=1'],
    ['{"refresh_token": "zY8q-wert","x":1}', '{"refresh_token": "[redacted]","x":1}'],
    ['key sk-abcdefghijklmnop1 is bad', 'key [redacted] is bad'],
    ['a ghp_abcdefghijklmnop123456', 'a [redacted]'],
  ])('hides what a peer presents as a token, though it does not know it: %s', (text, shown) => {
    expect(masking().mask(text)).toBe(shown);
  });

  it.each([
    'send it as Authorization: Bearer TOKEN',
    'it needs a Bearer token.',
    'WWW-Authenticate: Bearer realm="mcp", error="invalid_token"',
    'Basic authentication is not supported',
    'give "clientSecret" and the access_token of the user',
    'Bearer ${TOKEN}',
  ])('leaves words about tokens as they are: %s', (text) => {
    expect(masking().mask(text)).toBe(text);
  });

  it('hides the longer of two secrets, signs of patterns included', () => {
    expect(masking('secret(1', 'secret(1).*').mask('x secret(1).* y')).toBe('x [redacted] y');
  });

  it('hides signed tokens that it does not know', () => {
    expect(masking().mask('bad eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0abc.c2lnbmF0dXJl!')).toBe('bad [redacted]!');
  });

  it('forgets old tokens, and no configured secrets', () => {
    const many = masking('configured-1');
    for (let index = 0; index < 300; index++) many.addPassing(`token-${index}-of-somebody`);
    expect(many.mask('configured-1 token-299-of-somebody token-0-of-somebody')).toBe(
      '[redacted] [redacted] token-0-of-somebody',
    );
  });
});

describe('what is kept', () => {
  const fresh = (text: string): string => `${text}${Math.random().toString(36).slice(2, 10)}9q`;

  it.each([
    ['NODE_ENV', 'production'],
    ['BYPASS_CACHE', 'true'],
    ['DATA_FOLDER', '/data/of/somebody'],
    ['PORT', '8080808080'],
    ['MODE', 'x1y2z3'],
    ['API_URL', 'https://mcp2.example.com/v2/notes-api/server-v3?profile=free'],
  ])('%s=%s is not a secret', (name, value) => {
    registerSecret(name, value);
    expect(secrets.mask(value)).toBe(value);
  });

  it('what is kept is the login, the key and the random part of a URL, encoded or not', () => {
    const [password, key, part] = [fresh('p@ss/'), fresh('key-'), fresh('')];
    registerUrlSecrets(`https://me:${encodeURIComponent(password)}@a.example/s/${part}/mcp?api_key=${key}&page=2`);
    const text = `${password} ${encodeURIComponent(password)} ${key} ${part} a.example page=2`;
    expect(secrets.mask(text)).toBe('[redacted] [redacted] [redacted] [redacted] a.example page=2');
  });

  it('what is kept is what options and headers are called after, and a token without its scheme', () => {
    const [option, header, other] = [fresh('o'), fresh('h'), fresh('x')];
    registerArgumentSecrets(['--token', option, '-e', `API_KEY=${other}`, '--verbose']);
    registerSecret('Authorization', `Bearer ${header}`);
    expect(secrets.mask(`${option} ${other} ${header} --verbose`)).toBe('[redacted] [redacted] [redacted] --verbose');
  });

  it('what is kept is masked in errors, but not where a client is told what it sent, nor in a link to a login', () => {
    const value = fresh('known-');
    secrets.add(value);
    const failed = new GatewayError('UPSTREAM_FAILED', { server: 'a', reason: `bad ${value}` });
    expect(failed.message).toBe('a failed: bad [redacted]');
    expect(failed.details).toEqual({ server: 'a', reason: 'bad [redacted]' });
    expect(new GatewayError('TOOL_NOT_FOUND', { name: value }).message).toContain(value);
    const link = `https://login.example/?client_id=${value}`;
    expect(new GatewayError('UPSTREAM_LOGIN_LINK', { server: 'a', link }).message).toContain(link);
  });
});
