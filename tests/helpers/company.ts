// A gateway of a company, before a real OpenID provider: its users log in there, as callers and at pages of the gateway.
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { GatewayOptions } from 'mcp-parley';
import { approve } from 'mcp-parley/middleware';
import type { AuditEvent } from '../../src/kernel/audit.ts';
import { connected } from './fixture-server.ts';
import { Browser, authorizeLink, byCode, exchange, freePort, register, startIdp, REDIRECT } from './front-setup.ts';
import type { Answer } from './front-setup.ts';

/** The gateway, as the provider knows it. */
export const CLIENT = { clientId: 'gateway', clientSecret: 'the-secret-of-the-gateway' };

/** Users log in at the company's provider, whose tokens the gateway takes, or at the authorization server of the gateway in front of it. */
export type Mode = 'issuer' | 'front';

export async function startCompany(
  mode: Mode,
  {
    closing,
    hasSignIn = false,
    ...options
  }: Partial<GatewayOptions> & { closing: (() => unknown)[]; hasSignIn?: boolean },
) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const person = { sub: '' };
  const pair = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(pair.privateKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const { idp, close, tokenRequests } = await startIdp({
    base,
    person,
    pages: hasSignIn,
    keys: [key, ...(await rsaKey())],
  });
  closing.push(close);
  const auth = mode === 'front' ? { front: { issuer: idp, ...CLIENT } } : { issuers: [{ issuer: idp, pages: CLIENT }] };
  const ran: string[] = [];
  const audited: AuditEvent[] = [];
  const log = createLog({ level: 'silent' });
  const desk = createServer({ name: 'desk', version: '1', log });
  desk.tool('wipe', { annotations: { destructiveHint: true } }, ({ what }) => {
    ran.push(String(what));
    return `wiped ${String(what)}`;
  });
  const gateway = createGateway({
    servers: { desk },
    steps: [approve({ when: ['wipe'] })],
    log,
    publicUrl: base,
    auth,
    audit: (event) => void audited.push(event),
    ...options,
  });
  closing.push(() => gateway.close());
  await gateway.listen({ port });
  const tokenOf = async (sub: string): Promise<string> => {
    if (mode === 'front') return frontToken(base, person, sub);
    const claims = new SignJWT({}).setSubject(sub).setIssuer(idp).setAudience(`${base}/mcp`).setExpirationTime('1h');
    return claims.setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' }).sign(pair.privateKey);
  };
  return {
    base,
    idp,
    person,
    ran,
    audited,
    gateway,
    tokenRequests,
    principalOf: (sub: string) => `${mode === 'front' ? `${base}/oauth` : idp}#${sub}`,
    async clientOf(sub: string) {
      const headers = { authorization: `Bearer ${await tokenOf(sub)}` };
      const client = await connected({
        url: `${base}/mcp`,
        headers,
      });
      closing.push(() => client.close());
      return client;
    },
    browserOf: (sub: string) => new Visitor(sub, person),
  };
}

export type Company = Awaited<ReturnType<typeof startCompany>>;

async function rsaKey() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return [{ ...(await exportJWK(privateKey)), kid: 'two', alg: 'RS256', use: 'sig' }];
}

async function frontToken(base: string, person: { sub: string }, sub: string): Promise<string> {
  person.sub = sub;
  const front = `${base}/oauth`;
  const { client_id: id } = await register(front);
  const browser = new Browser();
  const page = await browser.open(await authorizeLink(front, String(id)));
  const back = await browser.decide(page, 'allow', REDIRECT);
  return (await exchange(front, byCode(String(id), back.url))).body['access_token']!;
}

class Visitor extends Browser {
  readonly #sub: string;
  readonly #person: { sub: string };

  constructor(sub: string, person: { sub: string }) {
    super();
    this.#sub = sub;
    this.#person = person;
  }

  /** Presses a button of a page of the gateway. */
  press(page: Answer, what: string, more: Record<string, string> = {}, stop?: string): Promise<Answer> {
    this.#person.sub = this.#sub;
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1];
    const form = { ...more, ...(csrf !== undefined && { csrf }), do: what };
    return this.open(page.url, { form, ...(stop !== undefined && { stop }) });
  }
}
