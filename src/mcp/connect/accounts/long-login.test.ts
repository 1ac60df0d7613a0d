// One login through 24 hours of virtual time, at an authorization server that takes the second use of a refresh token for theft.
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { createMemoryLogins } from './login-store.ts';
import { createServerLogin } from './lazy-login.ts';
import type { ServerLogin } from './server-login.ts';

const URL_OF_SERVER = new URL('https://mcp.example.com/mcp');
const ISSUER = 'https://login.example.com';
const HOUR = 3_600_000;
const TOKEN_MS = 5 * 60_000;

/** Rotates refresh tokens, and revokes everything when one is used twice. */
class StrictAuthority {
  now = 0;
  isAway = false;
  /** How it is away: no connection, an error of its proxy, or a temporary error of its own. */
  #awayKinds = 0;
  #count = 0;
  #access = new Map<string, number>();
  #refresh = new Set<string>();
  #spent = new Set<string>();
  logins = 0;
  refreshes = 0;
  revoked = 0;

  readonly fetch = async (given: string | URL, init: { method?: string | undefined; body?: unknown } = {}) => {
    await new Promise((resolve) => setImmediate(resolve));
    const { pathname, origin } = new URL(given);
    if (origin === URL_OF_SERVER.origin) return json({ resource: URL_OF_SERVER.href, authorization_servers: [ISSUER] });
    if (this.isAway) return this.#away();
    if (pathname === '/register') return json({ client_id: 'parley', ...JSON.parse(String(init.body)) }, 201);
    if (pathname === '/token') return this.#token(new URLSearchParams(String(init.body)));
    return json({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/auth`,
      token_endpoint: `${ISSUER}/token`,
      registration_endpoint: `${ISSUER}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    });
  };

  isValid(authorization: string | undefined): boolean {
    return this.now < (this.#access.get(authorization?.replace('Bearer ', '') ?? '') ?? 0);
  }

  #away(): Response {
    const kind = this.#awayKinds++ % 3;
    if (kind === 0) throw new TypeError('fetch failed');
    return kind === 1 ? new Response('Bad gateway', { status: 502 }) : json({ error: 'temporarily_unavailable' }, 503);
  }

  #token(asked: URLSearchParams): Response {
    const refresh = asked.get('refresh_token');
    if (refresh === null) this.logins++;
    else {
      this.refreshes++;
      if (this.#spent.has(refresh)) {
        this.revoked++;
        this.#refresh.clear();
        this.#access.clear();
      }
      if (!this.#refresh.delete(refresh)) return json({ error: 'invalid_grant' }, 400);
      this.#spent.add(refresh);
    }
    const [access, next] = [`a${++this.#count}`, `r${this.#count}`];
    this.#access.set(access, this.now + TOKEN_MS);
    this.#refresh.add(next);
    return json({ access_token: access, token_type: 'bearer', expires_in: TOKEN_MS / 1000, refresh_token: next });
  }
}

function json(body: object, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}

function setUp(): { authority: StrictAuthority; logins: ServerLogin[] } {
  const authority = new StrictAuthority();
  const clock: Clock = { now: () => authority.now, after: () => () => {} };
  const store = createMemoryLogins();
  const make = (): ServerLogin =>
    createServerLogin({ url: URL_OF_SERVER, name: 'far', store, clock, fetch: authority.fetch });
  return { authority, logins: [make(), make(), make()] }; // as three gateways with one store
}

async function logIn(login: ServerLogin): Promise<void> {
  const attempt = await login.begin('http://127.0.0.1:1234/callback');
  const asked = new URL(attempt.url).searchParams;
  const back = new URL(asked.get('redirect_uri')!);
  await attempt.finish(new URLSearchParams([...back.searchParams, ['code', 'c'], ['state', asked.get('state')!]]));
}

/** One request, as the HTTP client of a server makes it; returns the code of the error, if any. */
async function request(login: ServerLogin, authority: StrictAuthority): Promise<string | undefined> {
  try {
    for (let tries = 0; ; tries++) {
      const headers = await login.headersFor('POST', URL_OF_SERVER);
      if (authority.isValid(headers?.['authorization'])) return undefined;
      const refusal = { status: 401, headers: {}, sent: headers?.['authorization'], tries };
      if (!(await login.refused(refusal))) return 'refused';
    }
  } catch (thrown) {
    return thrown instanceof GatewayError ? thrown.code : String(thrown);
  }
}

/** A fixed sequence of numbers below 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

describe('a login through 24 hours', () => {
  test('is asked for once, whatever is called and however the authorization server fails', async () => {
    const { authority, logins } = setUp();
    const random = randomFrom(7);
    await logIn(logins[0]!);
    const seen = new Map<string | undefined, number>();
    let awayUntil = 0;
    while (authority.now < 24 * HOUR) {
      authority.now += Math.floor(random() * 90_000);
      // About once an hour it is away, for up to twenty minutes: four times as long as a token lives.
      if (authority.now > awayUntil && random() < 0.015) awayUntil = authority.now + random() * 20 * 60_000;
      authority.isAway = authority.now < awayUntil;
      const calls = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, at) =>
        request(logins[at % 3]!, authority),
      );
      for (const code of await Promise.all(calls)) seen.set(code, (seen.get(code) ?? 0) + 1);
      if (!authority.isAway) expect(await request(logins[1]!, authority)).toBeUndefined();
    }
    expect(authority).toMatchObject({ logins: 1, revoked: 0 });
    expect(authority.refreshes).toBeGreaterThan(200);
    expect(new Set(seen.keys())).toEqual(new Set([undefined, 'UPSTREAM_LOGIN_AWAY']));
  });

  test('is asked for again when its tokens are refused for good', async () => {
    const { authority, logins } = setUp();
    await logIn(logins[0]!);
    authority.now += TOKEN_MS / 2;
    expect(await request(logins[0]!, authority)).toBeUndefined();
    // A thief spends the refresh token, so the login ends.
    const stolen = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'r1' });
    await authority.fetch(`${ISSUER}/token`, { method: 'POST', body: stolen });
    authority.now += TOKEN_MS;
    expect(await request(logins[0]!, authority)).toBe('UPSTREAM_LOGIN_NEEDED');
    expect(authority.revoked).toBe(1);
    expect(await logins[0]!.hasFreshTokens()).toBe(false);
  });

  test('is not asked for where another gateway has logged in since the server refused', async () => {
    const { authority, logins } = setUp();
    expect(await request(logins[1]!, authority)).toBe('UPSTREAM_LOGIN_NEEDED');
    expect(await logins[1]!.hasFreshTokens()).toBe(false);
    await logIn(logins[0]!);
    expect(await logins[1]!.hasFreshTokens()).toBe(true);
    expect(await request(logins[1]!, authority)).toBeUndefined();
  });
});

describe('an authorization server that does not name itself in redirects', () => {
  test('has a redirect of its own, and a code that comes back at another one is refused', async () => {
    const { authority, logins } = setUp();
    const attempt = await logins[0]!.begin('http://127.0.0.1:1234/callback');
    const asked = new URL(attempt.url).searchParams;
    expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:1234\/callback\?as=[\w-]+$/);
    for (const as of [[], [['as', 'another']]]) {
      const back = new URLSearchParams([...as, ['code', 'c'], ['state', asked.get('state')!]] as [string, string][]);
      await expect(attempt.finish(back)).rejects.toThrow('the redirect came from another login');
    }
    expect(authority.logins).toBe(0);
  });
});
