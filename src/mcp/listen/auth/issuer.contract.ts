// A small issuer for tests: metadata, keys, introspection, and tokens of any shape. What a real one does is tested with oidc-provider.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import type { CryptoKey, JWTPayload } from 'jose';

export interface TestIssuer {
  url: string;
  /** Paths that were asked for. */
  readonly seen: string[];
  /** Replaces the answer to a path. */
  readonly answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  token(claims: JWTPayload, options?: TokenShape): Promise<string>;
  /** Signs with a new key from now on. */
  rotate(kid: string): Promise<void>;
  close(): void;
}

export interface TokenShape {
  header?: Record<string, unknown>;
  key?: CryptoKey | Uint8Array;
  /** Claims to leave out. */
  without?: string[];
}

export async function createTestIssuer(): Promise<TestIssuer> {
  let signing = await makeKey('one');
  const seen: string[] = [];
  const answers: TestIssuer['answers'] = new Map();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    seen.push(path);
    const own = answers.get(path);
    if (own) return own(request, response);
    const metadata = { issuer: url, jwks_uri: `${url}/jwks`, introspection_endpoint: `${url}/introspect` };
    if (path === '/.well-known/oauth-authorization-server') return json(response, metadata);
    if (path === '/jwks') return json(response, { keys: [signing.jwk] });
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    seen,
    answers,
    async token(claims, { header = {}, key, without = [] } = {}) {
      const now = Math.floor(Date.now() / 1000);
      const all: JWTPayload = { iss: url, sub: 'ann', iat: now, exp: now + 300, ...claims };
      for (const claim of without) delete all[claim];
      const head = { alg: 'ES256', kid: signing.jwk.kid, typ: 'at+jwt', ...header };
      return new SignJWT(all).setProtectedHeader(head).sign(key ?? signing.privateKey);
    },
    async rotate(kid) {
      signing = await makeKey(kid);
    },
    close: () => server.close().closeAllConnections(),
  };
}

export function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function makeKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'ES256' } };
}
