// Official clients (SDK v1 and SDK v2) as players. They are installed separately (`npm ci --prefix tests/peers`), so
// they are loaded by path.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Client, ConnectOptions } from 'mcp-parley';
import { ROOT } from '../files.ts';

const PEERS = join(ROOT, 'tests/peers');
const ALL = ['sdk-v1', 'sdk-v2', 'sdk-v2-rounds'] as const;
export type Official = (typeof ALL)[number];

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
    },
  ): Promise<Opened>;
}

export interface Place {
  url: string;
  who: string;
  onElicit: NonNullable<ConnectOptions['onElicit']>;
  /** Resolves when the current server has died. */
  down: () => Promise<void>;
}

/** The client does not notice that its server has died; its user calls again. */
export async function openOfficial(kind: Official, { url, who, onElicit, down }: Place): Promise<Player> {
  const filling = (await import(pathToFileURL(join(PEERS, 'clients/filling.mjs')).href)) as Filling;
  const died = down().then(() => {
    throw Object.assign(new Error('fetch failed'), { code: 'ECONNRESET' });
  });
  died.catch(() => {});
  const client = await Promise.race([filling.openFilling(kind, { url, headers: { 'x-user': who }, onElicit }), died]);
  const callTool = (...given: Parameters<Opened['callTool']>): ReturnType<Opened['callTool']> => {
    const called = client.callTool(...given);
    called.catch(() => {});
    return Promise.race([called, died]);
  };
  return {
    callTool,
    [Symbol.asyncDispose]: () => client.close(),
  };
}
