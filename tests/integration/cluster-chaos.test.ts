// Gateways that serve as one are killed at random while clients call. PARLEY_CHAOS=10000 makes so many calls (test:long).
// UPDATE_DOCS=1 writes docs/evidence/cluster.md.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { Chaos } from '../helpers/cluster-chaos.ts';
import type { ChaosReport } from '../helpers/cluster-chaos.ts';
import { ROOT } from '../helpers/files.ts';
import { startRedis } from '../helpers/redis-server.ts';

const calls = Number(process.env['PARLEY_CHAOS'] ?? 240);
const killMs = 2000;

test(
  'while gateways are killed every two seconds, no call acts twice, hangs, or gets the answer of another',
  { timeout: 3_600_000 },
  async () => {
    await using redis = await startRedis();
    await using effects = await EffectsServer.start();
    await using cluster = await TestCluster.start({ redis: redis.url, servers: { effects: { url: effects.url } } });
    const report = await new Chaos(cluster, effects).run({ calls, clients: 6, killMs });
    if (process.env['UPDATE_DOCS']) writeFileSync(join(ROOT, 'docs', 'evidence', 'cluster.md'), toPage(report));
    expect(report.breaches).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
    expect(report.answered).toBeGreaterThan(report.calls / 2);
  },
);

function toPage({ calls: made, kills, answered, failed, slowestMs, newSessions, breaches }: ChaosReport): string {
  const failures = Object.entries(failed).toSorted(([, a], [, b]) => b - a);
  return `# Gateways that serve as one, killed at random

Written by \`UPDATE_DOCS=1 PARLEY_CHAOS=${made} npx vitest run --project integration tests/integration/cluster-chaos.test.ts\`, with ${availableParallelism()} cores for everything.
Three gateways (\`parley serve\`) on one Redis, behind a proxy that sends each request to the next one; every two seconds a random one is killed with SIGKILL and
started again. Of the calls 65 % are plain, 25 % in handshake sessions, and 10 % ask their user. Calls that only read are tried twice by their client, all others once.

| what | result |
|---|---|
| calls | ${made} |
| kills | ${kills} |
| calls that were answered | ${answered} |
| sessions opened by 6 clients | ${newSessions} |
| slowest try | ${slowestMs} ms |
| calls that acted twice, were answered twice, took over 15 s, or got the answer of another | ${breaches.length} |

How tries failed; each was told to its client:

| failure | tries |
|---|---|
${failures.map(([failure, count]) => `| ${failure.replaceAll('|', '\\|')} | ${count} |`).join('\n')}
`;
}
