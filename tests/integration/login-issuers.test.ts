// A configured secret is for one authorization server. Here a server names another one, after a good login or from the start, and everything that arrives there is
// written down.
import { generateKeyPairSync } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { connect, createServer } from 'mcp-parley';
import type { UrlAddress } from '../../src/mcp/connect/address.ts';
import { textOf } from '../helpers/fixture-server.ts';
import { homesOfTests } from '../helpers/parley.ts';

const { newHome } = homesOfTests();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Authority {
  issuer: string;
  /** What came to its token endpoint: the headers that prove who sent it, and the body. */
  got: string[];
}

type Answer = (path: string, body: string, headers: Record<string, unknown>) => object | undefined;

async function listen(answer: Answer): Promise<string> {
  const server = createHttpServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const found = answer(request.url ?? '', body, request.headers);
      response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An authorization server that gives everybody a token, and counts them. */
async function authority(): Promise<Authority> {
  const got: string[] = [];
  const issuer: string = await listen((path, body, headers) => {
    if (path === '/.well-known/oauth-authorization-server')
      return {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
        response_types_supported: ['code'],
      };
    if (path !== '/token') return undefined;
    got.push(`${String(headers['authorization'] ?? '')} ${body}`);
    return { access_token: `token-${got.length}-of-${issuer}`, token_type: 'Bearer', expires_in: 3600 };
  });
  return { issuer, got };
}

/** An MCP server that wants a token, and says where to get it. */
async function guarded(first: Authority) {
  const mcp = createServer({ name: 'guarded', version: '1' });
  mcp.tool('hello', {}, () => 'hello');
  const endpoint = mcp.endpoint();
  const state = { names: first.issuer, refuses: new Set<string>() };
  const server = createHttpServer((request, response) => {
    const base = `http://${request.headers.host}`;
    if (request.url?.startsWith('/.well-known/oauth-protected-resource')) {
      const found = { resource: `${base}/mcp`, authorization_servers: [state.names] };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found));
    }
    const { authorization = '' } = request.headers;
    if (authorization.startsWith('Bearer token-') && !state.refuses.has(authorization))
      return endpoint.handle(request, response);
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => mcp.close());
  closing.push(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  /** From now on it names another authorization server, and takes none of the tokens so far. */
  const move = ({ issuer }: Authority): void => {
    for (let n = 1; n < 10; n++) state.refuses.add(`Bearer token-${n}-of-${state.names}`);
    state.names = issuer;
  };
  return { url, move };
}

const SECRET = 'the-secret-of-reports-0123456789';
const ASSERTION = 'the-token-of-the-platform-0123456789';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const WAYS: [name: string, auth: NonNullable<UrlAddress['auth']>][] = [
  ['the secret of client_credentials', { grant: 'client_credentials', clientId: 'reports', clientSecret: SECRET }],
  ['the key of client_credentials', { grant: 'client_credentials', clientId: 'reports', clientKey: PEM }],
  ['the assertion of jwt_bearer', { grant: 'jwt_bearer', clientId: 'reports', assertion: ASSERTION }],
  ['the secret of a client that people log in with', { clientId: 'reports', clientSecret: SECRET }],
];

/** What the page would do when the person has agreed. */
async function comeBack(link: string): Promise<void> {
  const { searchParams } = new URL(link);
  const back = new URL(searchParams.get('redirect_uri')!);
  back.searchParams.set('code', 'the-code');
  back.searchParams.set('state', searchParams.get('state')!);
  await fetch(back);
}

const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(String, ({ message, cause }: Error) => `${message} ${String((cause as Error | undefined)?.message)}`);

describe.each(WAYS)('%s', (_, auth) => {
  test('goes to no other issuer after the first login', async () => {
    const [good, evil] = [await authority(), await authority()];
    const { url, move } = await guarded(good);
    await using client = await connect({ url, auth }, { onLogin: comeBack });
    expect(await textOf(client, 'hello')).toBe('hello');
    expect(good.got).toHaveLength(1);
    move(evil);
    for (let n = 0; n < 2; n++) {
      const words = await outcome(textOf(client, 'hello'));
      for (const word of [good.issuer, evil.issuer, 'nothing was sent']) expect(words).toContain(word);
    }
    expect(evil.got).toEqual([]);
  });

  test('goes to no other issuer than the configured one, from the start', async () => {
    const [good, evil] = [await authority(), await authority()];
    const { url } = await guarded(evil);
    const words = await outcome(connect({ url, auth: { ...auth, issuer: good.issuer } }, { onLogin: comeBack }));
    expect(words).toContain(good.issuer);
    expect([good.got, evil.got]).toEqual([[], []]);
  });

  test('works with the configured issuer, with and without a slash', async () => {
    const good = await authority();
    const { url } = await guarded(good);
    for (const issuer of [good.issuer, `${good.issuer}/`]) {
      await using client = await connect({ url, auth: { ...auth, issuer } }, { onLogin: comeBack });
      expect(await textOf(client, 'hello')).toBe('hello');
    }
  });
});

describe('parley', () => {
  const auth = { grant: 'client_credentials', clientId: 'reports', clientSecret: '${SECRET}' };
  const env = { SECRET };

  test('remembers over restarts which issuer a secret is for, until the user logs out', async () => {
    const [good, evil] = [await authority(), await authority()];
    const { url, move } = await guarded(good);
    const home = newHome();
    home.write('parley.config.json', { mcpServers: { x: { url, auth } } });
    expect((await home.run(['ls', 'tools'], '', env)).stdout).toContain('hello');
    move(evil);
    const { status, stdout, stderr } = await home.run(['ls', 'tools'], '', env);
    expect(stdout).not.toContain('hello');
    expect(`${status} ${stderr}`).toContain(evil.issuer);
    expect(stderr).toContain(good.issuer);
    expect(evil.got).toEqual([]);
    await home.run(['logout', 'x'], '', env);
    expect((await home.run(['ls', 'tools'], '', env)).stdout).toContain('hello');
    expect(evil.got).toHaveLength(1); // as the user wanted it
  });

  test.each<[string, object]>([
    ['a secret', auth],
    ['a file that is sent', { grant: 'jwt_bearer', clientId: 'reports', assertionFile: 'token' }],
    ['a key', { clientId: 'reports', clientKey: 'key.pem' }],
  ])('trusts no folder that gives %s to a login without naming the issuer', async (_, login) => {
    const evil = await authority();
    const { url } = await guarded(evil);
    const home = newHome();
    home.write('token', ASSERTION);
    home.write('key.pem', PEM);
    home.write('parley.config.json', { mcpServers: { x: { url, auth: login } } });
    for (const words of [['ls'], ['trust', '--yes'], ['serve', '--port', '0']]) {
      const { status, stderr } = await home.run(words, '', { ...env, PARLEY_TRUST: '' });
      expect([words, status]).toEqual([words, 1]);
      expect(stderr).toContain('"issuer"');
    }
    expect(evil.got).toEqual([]);
    home.write('parley.config.json', { mcpServers: { x: { url, auth: { ...login, issuer: evil.issuer } } } });
    const { stdout } = await home.run(['trust', '--yes'], '', { ...env, PARLEY_TRUST: '' });
    expect(stdout).toContain(evil.issuer);
    expect(stdout).toContain('Trusted');
  });
});
