// Gateways that serve as one are killed at random while clients call. PARLEY_CHAOS=10000 makes so many calls (test:long).
// UPDATE_DOCS=1 writes its block of docs/evidence/cluster.md.
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { Chaos } from '../helpers/cluster-chaos.ts';
import type { ChaosReport } from '../helpers/cluster-chaos.ts';
import { renewBlock } from '../peers/harness/page-block.mjs';
import { startRedis } from '../helpers/redis-server.ts';

const calls = Number(process.env['PARLEY_CHAOS'] ?? 240);
const killMs = 2000;

test(
  'while gateways are killed every two seconds, no call acts twice, hangs, or gets the answer of another',
  { timeout: 3_600_000 },
  async () => {
    await using redis = await startRedis();
    await using effects = await EffectsServer.start({ flows: redis.url });
    await using cluster = await TestCluster.start({ redis: redis.url, servers: { effects: { url: effects.url } } });
    const report = await new Chaos(cluster, effects).run({ calls, clients: 6, killMs });
    if (process.env['UPDATE_DOCS']) renewBlock('evidence/cluster.md', 'chaos', toBlock(report));
    expect(report.breaches).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
    expect(report.answered).toBeGreaterThan(report.calls / 2);
  },
);

function toBlock({
  calls: made,
  kills,
  answered,
  failed,
  slowestMs,
  newSessions,
  kinds,
  acknowledged,
  retried,
  breaches,
}: ChaosReport): string {
  const failures = Object.entries(failed).toSorted(([, a], [, b]) => b - a);
  return `Written by \`UPDATE_DOCS=1 PARLEY_CHAOS=${made} npx vitest run --project integration tests/integration/cluster-chaos.test.ts\`, with ${availableParallelism()} cores for everything.
Three gateways (\`parley serve\`) on one Redis, behind a proxy that sends each request to the next one; every two seconds a random one is killed with SIGKILL and
started again. Of the calls ${kindsOf(kinds)}. Calls that only read, and turns of flows, are tried again once by their client, all others never. The server keeps its flows in Redis, and is not killed.

| what | result |
|---|---|
| calls | ${made} |
| kills | ${kills} |
| calls that were answered | ${answered} |
| sessions opened by 6 clients | ${newSessions} |
| slowest try | ${slowestMs} ms |
| calls that their client has tried again | ${retried} |
| answers to flows that were acknowledged, all of them found at the end | ${acknowledged} |
| calls without an outcome or with two, that acted twice, took over 15 s, got the answer of another, or only read and were not answered in two tries; acknowledged answers that were lost | ${breaches.length} |

How tries failed; each was told to its client:

| failure | tries |
|---|---|
${failures.map(([failure, count]) => `| ${failure.replaceAll('|', '\\|')} | ${count} |`).join('\n')}`;
}

const KINDS: Record<string, string> = {
  plain: 'are plain',
  session: 'are in handshake sessions',
  question: 'ask their user',
  turn: 'are turns of flows',
};

function kindsOf(kinds: Record<string, number>): string {
  const all = Object.values(kinds).reduce((sum, count) => sum + count, 0);
  return Object.entries(KINDS)
    .map(([kind, text]) => `${Math.round((100 * (kinds[kind] ?? 0)) / all)} % ${text}`)
    .join(', ');
}
