// A login for a raw server over HTTP: an authorization server that registers everybody, whose page stays open until the conversation lets it go on,
// and a browser that is a program. The tokens of a person can be ended, and a request can be refused for want of more scopes.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tagOf } from '../revisions.mjs';
import { onFreePort } from './delivery.mjs';
import { bodyOf } from './event-streams.mjs';

const BROWSER = `#!${process.execPath}
let url = process.argv[2];
for (let hops = 0; url && hops < 10; hops++) {
  const response = await fetch(url, { redirect: 'manual' });
  const next = response.headers.get('location');
  url = next === null ? undefined : new URL(next, url).href;
}
`;
const CORS = { 'content-type': 'application/json' };

/** Puts the login before the server; `env` makes its browser that of the gateway. */
export async function requireLogin(server, { endpoint, address }) {
  const login = new Login(server, address.url);
  endpoint.extra = (request, response) => login.tellWhere(request, response);
  server.guard = (message, delivery) => login.refusalOf(message, delivery);
  await login.start();
  server.login = login;
  return login;
}

class Login {
  /** Tags of requests that need the scope `more`. */
  needsMore = new Set();
  #server;
  #resource;
  #http = createServer((request, response) => void this.#handle(request, response));
  #folder = mkdtempSync(join(tmpdir(), 'parley-twin-browser-'));
  #issuer;
  #tokens = new Map();
  #codes = new Map();
  #count = 0;
  #page = Promise.resolve();
  #open = () => {};

  constructor(server, resource) {
    this.#server = server;
    this.#resource = resource;
  }

  async start() {
    this.#issuer = `http://127.0.0.1:${await onFreePort(this.#http)}`;
    writeFileSync(join(this.#folder, 'browser.mjs'), BROWSER);
    chmodSync(join(this.#folder, 'browser.mjs'), 0o755);
  }

  get env() {
    return { BROWSER: join(this.#folder, 'browser.mjs') };
  }

  /** From now on a page stays open until `finish`. */
  hold() {
    this.#page = new Promise((resolve) => (this.#open = resolve));
  }

  finish() {
    this.#open();
  }

  /** All tokens end, those for new ones too. */
  revoke() {
    this.#tokens.clear();
  }

  close() {
    this.#http.closeAllConnections();
    this.#http.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  refusalOf(message, { headers = {} }) {
    const scopes = this.#tokens.get(headers.authorization?.replace(/^Bearer /, ''));
    const where = `resource_metadata="${new URL('/.well-known/oauth-protected-resource/mcp', this.#resource).href}"`;
    if (!scopes) return { status: 401, headers: { 'www-authenticate': `Bearer ${where}` } };
    if (!this.needsMore.has(tagOf(message)) || scopes.includes('more')) return undefined;
    const challenge = `Bearer error="insufficient_scope", scope="mcp more", ${where}`;
    return { status: 403, headers: { 'www-authenticate': challenge } };
  }

  tellWhere({ url }, response) {
    if (!url.startsWith('/.well-known/')) return false;
    const known = { resource: this.#resource, authorization_servers: [this.#issuer], scopes_supported: ['mcp'] };
    if (url.startsWith('/.well-known/oauth-protected-resource'))
      response.writeHead(200, CORS).end(JSON.stringify(known));
    else response.writeHead(404).end();
    return true;
  }

  async #handle(request, response) {
    const { pathname, searchParams } = new URL(request.url, this.#issuer);
    const body = await bodyOf(request);
    const json = (status, value) => response.writeHead(status, CORS).end(JSON.stringify(value));
    if (pathname.startsWith('/.well-known/')) return json(200, this.#metadata());
    if (pathname === '/register') return json(201, { ...JSON.parse(body), client_id: 'twin', client_id_issued_at: 1 });
    if (pathname === '/authorize') return this.#authorize(searchParams, response);
    if (pathname === '/token') return this.#token(new URLSearchParams(body), json);
    response.writeHead(404).end();
  }

  #metadata() {
    const issuer = this.#issuer;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      scopes_supported: ['mcp', 'more'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  async #authorize(params, response) {
    this.#server.tape.write({ side: 'server', event: 'login page', scope: params.get('scope') });
    await this.#page;
    const code = `code-${++this.#count}`;
    this.#codes.set(code, (params.get('scope') ?? 'mcp').split(' '));
    const back = new URL(params.get('redirect_uri'));
    for (const [key, value] of Object.entries({ code, state: params.get('state') ?? '', iss: this.#issuer })) {
      back.searchParams.set(key, value);
    }
    response.writeHead(302, { location: back.href }).end();
  }

  #token(params, json) {
    const scopes = this.#codes.get(params.get('code')) ?? this.#tokens.get(params.get('refresh_token'));
    if (!scopes) return json(400, { error: 'invalid_grant' });
    this.#codes.delete(params.get('code'));
    const [access, refresh] = [`token-${++this.#count}`, `refresh-${this.#count}`];
    this.#tokens.set(access, scopes).set(refresh, scopes);
    const given = { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: 3600 };
    json(200, { ...given, scope: scopes.join(' ') });
  }
}
