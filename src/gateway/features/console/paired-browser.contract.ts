// A gateway with a console, and browsers at it that requests play.
import { afterEach, expect } from 'vitest';
import { createGateway } from '../../gateway.ts';
import type { Gateway, GatewayOptions } from '../../gateway.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { connect } from '../../../sdk/client/connect.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { approve } from '../approve/approve.ts';
import type { NowView } from './views.ts';

const log = createLog({ level: 'silent' });
/** What is closed after the test, the last first. */
export const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

export async function start(options: Partial<GatewayOptions> = {}) {
  const ran: string[] = [];
  const disk = createServer({ name: 'disk', version: '1', log });
  disk.tool('wipe', { annotations: { destructiveHint: true } }, ({ what }) => {
    ran.push(String(what));
    return 'wiped';
  });
  const gateway = createGateway({ servers: { disk }, steps: [approve()], log, console: true, ...options });
  closing.push(() => gateway.close());
  const { url } = await gateway.listen({ port: 0 });
  return { gateway, url, root: url.replace(/mcp$/, ''), ran };
}

export async function clientOf(url: string, headers?: Record<string, string>) {
  const client = await connect({ url, ...(headers && { headers }) });
  closing.push(() => client.close());
  return client;
}

/** A browser at the console: its key and its cookie. */
export class Paired {
  readonly root: string;
  #key = '';
  #cookie = '';
  cookies: string[] = [];

  constructor(root: string) {
    this.root = root;
  }

  async enter(gateway: Gateway, user?: string): Promise<void> {
    const { code } = await gateway.pair(user);
    const response = await redeem(this.root, code);
    expect(response.status).toBe(200);
    this.cookies = response.headers.getSetCookie();
    this.#cookie = this.cookies[0]!.split(';')[0]!;
    this.#key = ((await response.json()) as { key: string }).key;
  }

  get api(): string {
    return `${this.root}console/api/${this.#key}/`;
  }

  get cookie(): string {
    return this.#cookie;
  }

  async now(): Promise<NowView> {
    return (await (await fetch(`${this.api}now`, { headers: { cookie: this.#cookie } })).json()) as NowView;
  }

  async say(handle: string, say: string, headers: Record<string, string> = {}): Promise<number> {
    return (await this.post('answer', { handle, say }, headers)).status;
  }

  read(name: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.api}${name}`, { headers: { cookie: this.#cookie, ...headers } });
  }

  post(name: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
    const { origin } = new URL(this.root);
    const all = { cookie: this.#cookie, origin, 'sec-fetch-site': 'same-origin', ...headers };
    return fetch(`${this.api}${name}`, { method: 'POST', body: new URLSearchParams(fields), headers: all });
  }
}

export function redeem(root: string, code: string, headers: Record<string, string> = {}): Promise<Response> {
  const all = { origin: new URL(root).origin, 'sec-fetch-site': 'same-origin', ...headers };
  return fetch(`${root}console/enter`, { method: 'POST', body: new URLSearchParams({ code }), headers: all });
}
