// Official clients (SDK v1 and SDK v2) as players. They are installed separately (`npm ci --prefix tests/peers`), so
// they are loaded by path.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Client, ConnectOptions } from 'mcp-parley';
import { ROOT } from '../files.ts';

const PEERS = join(ROOT, 'tests/peers');
const ALL = ['sdk-v1', 'sdk-v2', 'sdk-v2-rounds'] as const;
export type Official = (typeof ALL)[number];
const PAUSE_MS = 10;

/** Empty if they are not installed; with PARLEY_TOOLS=required, as in .ci/run, that is a failure. */
export const OFFICIAL: readonly Official[] = installed();

function installed(): readonly Official[] {
  if (existsSync(join(PEERS, 'node_modules/@modelcontextprotocol/client'))) return ALL;
  const told = 'the official clients are not installed (npm ci --prefix tests/peers)';
  if (process.env['PARLEY_TOOLS'] === 'required') throw new Error(told);
  console.warn(`skipped: ${told}`);
  return [];
}

export function isOfficial(channel: string): channel is Official {
  return (ALL as readonly string[]).includes(channel);
}

export type Player = Pick<Client, 'callTool'> & AsyncDisposable;

interface Opened {
  callTool: Client['callTool'];
  close(): Promise<void>;
}

interface Filling {
  openFilling(
    kind: Official,
    how: {
      url: string;
      headers: Record<string, string>;
      onElicit: NonNullable<ConnectOptions['onElicit']>;
      fetch?: typeof fetch;
    },
  ): Promise<Opened>;
}

export interface Place {
  url: string;
  who: string;
  onElicit: NonNullable<ConnectOptions['onElicit']>;
  /** Resolves when the server is back. */
  up: () => Promise<void>;
  /** Resolves when the current server has died. */
  down: () => Promise<void>;
}

/**
 * A handshake client does not notice that its server has died; its user calls again. A 2026-07-28 client gets a `fetch`
 * that repeats unanswered requests, because its next call would start over.
 */
export async function openOfficial(kind: Official, { url, who, onElicit, up, down }: Place): Promise<Player> {
  const filling = (await import(pathToFileURL(join(PEERS, 'clients/filling.mjs')).href)) as Filling;
  const isPatient = kind === 'sdk-v2-rounds';
  const died = down().then(() => {
    throw Object.assign(new Error('fetch failed'), { code: 'ECONNRESET' });
  });
  died.catch(() => {});
  const headers = { 'x-user': who };
  const opening = filling.openFilling(kind, { url, headers, onElicit, ...(isPatient && { fetch: patient(up) }) });
  const client = await (isPatient ? opening : Promise.race([opening, died]));
  return {
    callTool: (name, args, options) => {
      const called = client.callTool(name, args, options);
      called.catch(() => {});
      return isPatient ? called : Promise.race([called, died]);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Only the asking process knows a question in text, so the player calls the tool again. */
function isOfProcess(body: unknown): boolean {
  return typeof body === 'string' && body.includes('parley_answer');
}

/** Repeats the request until the answer is complete. */
function patient(up: () => Promise<void>): typeof fetch {
  return async (input, init) => {
    for (;;) {
      await up();
      try {
        const response = await fetch(input, init);
        const body = await response.text();
        if (body !== '' || !response.ok || response.status === 202) {
          const { status, headers } = response;
          return new Response(status === 202 || status === 204 ? null : body, { status, headers });
        }
      } catch (thrown) {
        if (init?.signal?.aborted || isOfProcess(init?.body)) throw thrown;
      }
      await delay(PAUSE_MS);
    }
  };
}
