// Nothing lost, nothing twice: processes that answer sessions are killed at any moment, and at the worst ones, in tests/kill-loop.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../helpers/files.ts';
import { hasPostgres, startPostgres } from '../helpers/postgres-server.ts';
import { startRedis } from '../helpers/redis-server.ts';
import { hasTool } from '../helpers/tools.ts';

/** Of each store. `npm run test:long` asks for more. */
const KILLS = Number(process.env['PARLEY_KILLS'] ?? 30);
const MORE = process.env['UPDATE_DOCS'] && KILLS >= 500 ? ['--write'] : [];
/** Half a minute for all on a machine with nothing else to do, unless more is asked for. */
const DEADLINE_MS = 60 * 60_000;

interface Report {
  kills: number;
  faults: Record<string, number>;
  acknowledged: number;
  sessions: number;
  completed: number;
  repeated: number;
  moved: number;
  slept: number;
  retried: number;
  cancelled: number;
  failed: number;
  undone: number;
  cleaned: number;
  /** When they were delivered. */
  events: { early: number; atWork: number; atRest: number };
  breaches: string[];
}

describe('a kill -9 at any moment', { timeout: DEADLINE_MS }, () => {
  it('loses no answer and doubles no effect in SQLite', async () => {
    expectGood(await killLoop(['--kills', String(KILLS), ...MORE]));
  });

  it.skipIf(!hasTool('redis-server'))('loses no answer and doubles no effect in Redis', async () => {
    await using redis = await startRedis();
    expectGood(await killLoop(['--kills', String(KILLS), '--redis', redis.url, ...MORE]));
  });

  it.skipIf(!hasPostgres())('loses no answer and doubles no effect in Postgres', async () => {
    await using postgres = await startPostgres();
    expectGood(
      await killLoop(['--kills', String(KILLS), '--postgres', postgres.url, '--key', 'a key of this test', ...MORE]),
    );
  });

  it.each([
    ['lose', [/has lost|gone|acted without|two answers|changed under an open session/]],
    ['vary', [/in \d+ different ways/]],
    ['forget', [/has not undone/, /has not cleaned up/]],
    ['hurry', [/slept only/]],
    ['repeat', [/fired \d times/]],
  ])('is found out where it does harm: %s', async (sabotage, wanted) => {
    const breaches: string[] = [];
    const isFound = () => wanted.every((breach) => breaches.some((one) => breach.test(one)));
    // A few kills may all miss the moment in which it does harm; so many hardly ever do.
    for (let tries = 0; tries < 20 && !isFound(); tries++) {
      // What the sessions themselves notice ends the loop.
      const noticed = (error: Error): { breaches: string[] } => ({ breaches: [error.message] });
      breaches.push(...(await killLoop(['--kills', '5', '--sabotage', sabotage]).catch(noticed)).breaches);
    }
    expect(isFound()).toBe(true);
  });
});

function expectGood(report: Report): void {
  expect(report.breaches).toEqual([]);
  expect(report.kills).toBeGreaterThanOrEqual(KILLS);
  // The loop did what it is for: it hit the moment between effect and record, and sessions went on elsewhere.
  expect(report.faults['after-effect']).toBeGreaterThan(0);
  expect(report.repeated).toBeGreaterThan(0);
  expect(report.moved).toBeGreaterThan(0);
  expect(report.acknowledged).toBeGreaterThan(report.kills);
  expect(report.completed).toBeGreaterThan(report.sessions / 4);
  for (const figure of ['slept', 'retried', 'cancelled', 'failed', 'undone', 'cleaned'] as const) {
    expect(report[figure], figure).toBeGreaterThan(0);
  }
  for (const [when, count] of Object.entries(report.events)) expect(count, `events: ${when}`).toBeGreaterThan(0);
}

async function killLoop(args: string[]): Promise<Report> {
  const script = join(ROOT, 'tests', 'kill-loop', 'run.mjs');
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [said, complained] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (complained += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (said === '') throw new Error(`the kill loop ended with ${code}: ${complained}`);
  return JSON.parse(said) as Report;
}
