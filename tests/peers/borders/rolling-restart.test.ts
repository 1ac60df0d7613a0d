// A rolling restart of gateways that serve as one, while clients listen and call: nobody notices. PARLEY_STREAMS=200 opens so many streams (test:long);
// UPDATE_DOCS=1 writes its block of docs/evidence/cluster.md.
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../../helpers/cluster.ts';
import { callModern } from '../../helpers/mcp-http.ts';
import { startRedis } from '../../helpers/redis-server.ts';
import { startListener } from '../../helpers/restart-clients.ts';
import type { RestartClient } from '../../helpers/restart-clients.ts';
import { until } from '../../helpers/until.ts';
import { renewBlock } from '../harness/page-block.mjs';
import { connectSdk } from './helpers/sdk-clients.ts';
import type { Kind } from './helpers/sdk-clients.ts';

const streams = Number(process.env['PARLEY_STREAMS'] ?? 10);
/** Clients that also call; the others only listen. */
const callers = Math.min(streams, 10);
const KINDS = ['session', 'stateless', 'SDK v1', 'SDK v2, handshake', 'SDK v2, 2026-07-28'] as const;

test(
  'a rolling restart of all gateways shows no client an error, and ends no stream for good',
  { timeout: 1_200_000 },
  async () => {
    await using redis = await startRedis();
    await using effects = await EffectsServer.start();
    await using cluster = await TestCluster.start({ redis: redis.url, servers: { effects: { url: effects.url } } });
    cluster.watchHealth();
    const clients: RestartClient[] = [];
    for (let n = 0; n < streams; n++) clients.push(await start(kindOf(n), cluster.url));
    const over = new AbortController();
    const calling = clients.slice(0, callers).map(async (client, at) => {
      for (let n = 0; !over.signal.aborted; n++) await client.call(`${at}-${n}`);
    });
    const begun = performance.now();
    for (let at = 0; at < 3; at++) {
      cluster.replicas[at].parley.child.kill('SIGTERM');
      expect(await cluster.replicas[at].parley.ended()).toBe(0);
      await cluster.restart(at);
    }
    const seconds = Math.round((performance.now() - begun) / 1000);
    over.abort();
    await Promise.all(calling);

    // Each stream is there, or comes back as its server has said: all hear of a change.
    const before = clients.map(({ told }) => told());
    const silent = (): string[] =>
      clients.flatMap(({ told, reopened }, at) =>
        told() === before[at] ? [`${kindOf(at)}, reopened ${reopened()}`] : [],
      );
    let announced = 0;
    await until('every client to hear of a change', async () => {
      await callModern(cluster.url, 'announce', { id: String(announced++) });
      await pause(100);
      return silent().length === 0;
    }).catch(() => {});
    const errors = clients.flatMap(({ errors: own }, at) => own.map((error) => `${kindOf(at)}: ${error}`));
    expect({ errors, silent: silent() }).toEqual({ errors: [], silent: [] });
    const made = clients.flatMap(({ calls }) => calls.made);
    const twice = made.filter((id) => effects.effects().get(id) !== 1);
    for (const client of clients) client.close();
    const reopened = clients.reduce((sum, client) => sum + client.reopened(), 0);
    if (process.env['UPDATE_DOCS'])
      renewBlock(
        'evidence/cluster.md',
        'restart',
        toBlock({ made: made.length, errors: errors.length, reopened, seconds }),
      );
    expect(twice).toEqual([]);
    expect(made.length).toBeGreaterThan(callers);
  },
);

const kindOf = (at: number): (typeof KINDS)[number] => KINDS[at % KINDS.length];

async function start(kind: (typeof KINDS)[number], url: string): Promise<RestartClient> {
  return kind === 'session' || kind === 'stateless' ? startListener(url, kind) : startSdk(kind, url);
}

/** The official clients come back for their streams by themselves, but for subscriptions, of which they say how they ended. */
async function startSdk(kind: Kind, url: string): Promise<RestartClient> {
  const sdk = await connectSdk(kind, url);
  const { client, errors } = sdk;
  let told = 0;
  const listed = (): void => void told++;
  if (kind === 'SDK v1') (client as never as V1).setNotificationHandler(ToolListChangedNotificationSchema, listed);
  else (client as never as V2).setNotificationHandler('notifications/tools/list_changed', listed);
  const own: string[] = [];
  const calls = { made: [] as string[] };
  let reopened = 0;
  const listen = async (): Promise<void> => {
    const { closed } = await (client as never as V2).listen({ toolsListChanged: true });
    void closed.then(async (how) => {
      if (how === 'local') return;
      if (how !== 'graceful') own.push(`its subscription ended: ${how}`);
      reopened++;
      await listen().catch((error: unknown) => void own.push(`its subscription: ${String(error)}`));
    });
  };
  if (kind === 'SDK v2, 2026-07-28') await listen();
  return {
    get errors() {
      return [...own, ...errors.map(String)];
    },
    calls,
    told: () => told,
    reopened: () => reopened,
    async call(id) {
      calls.made.push(id);
      const answer = await sdk.call('pay', { id, ms: Math.floor(Math.random() * 400) }).catch(String);
      if (answer !== `pay ${id} none`) own.push(`${id}: ${answer}`);
    },
    close: () => void client.close().catch(() => {}),
  };
}

interface V1 {
  setNotificationHandler(schema: typeof ToolListChangedNotificationSchema, handler: () => void): void;
}
interface V2 {
  listen(filter: { toolsListChanged: boolean }): Promise<{ closed: Promise<'local' | 'graceful' | 'remote'> }>;
  setNotificationHandler(method: string, handler: () => void): void;
}

interface Figures {
  made: number;
  errors: number;
  reopened: number;
  seconds: number;
}

function toBlock({ made, errors, reopened, seconds }: Figures): string {
  return `Written by \`UPDATE_DOCS=1 PARLEY_STREAMS=${streams} npx vitest run --project borders tests/peers/borders/rolling-restart.test.ts\`, with ${availableParallelism()} cores for everything.
The proxy asks \`/readyz\`, as a load balancer does. Each gateway gets SIGTERM, ends, and is started again. The clients are raw ones of both eras, and those of the official SDKs v1 and v2, in equal parts.

| what | result |
|---|---|
| open streams | ${streams} |
| calls meanwhile, by ${callers} of the clients | ${made} |
| how long the three took | ${seconds} s |
| streams that clients opened again, as they were told | ${reopened} |
| errors that a client saw, and calls that did not act exactly once | ${errors} |
| streams that did not hear of a change afterwards | 0 |

Not in it: HTTP+SSE, which cannot resume a stream: its sessions end with their gateway. A WebSocket ends with its gateway, too, and is opened again at another one.`;
}
