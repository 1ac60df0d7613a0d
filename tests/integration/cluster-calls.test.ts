// What a call costs at gateways that serve as one: CPU time beside that of a gateway alone, and what forwarding adds. PARLEY_MEASURE=1 runs it, on a machine
// that does nothing else; with UPDATE_DOCS=1 it writes docs/evidence/cluster-cost.md.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { renewPart } from '../helpers/evidence-part.ts';
import { BOTH } from '../helpers/http-wire.ts';
import { modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const ROUNDS = 5;
/** For each gateway, as are those at once: each is as busy as the one alone. */
const CALLS = 2000;
const AT_ONCE = 12;
const FORWARDED = 1500;
/** Of /proc/PID/stat. */
const TICKS_MS = 10;

interface Sent {
  body: object;
  headers: Record<string, string>;
}

/** Resolves with the milliseconds that it took. */
function post(url: string, { body, headers }: Sent): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const all = { 'content-type': 'application/json', accept: BOTH, ...headers };
    const sent = request(url, { method: 'POST', agent, headers: all }, (response) => {
      if (response.statusCode !== 200) reject(new Error(String(response.statusCode)));
      response.on('end', () => resolve(performance.now() - begun)).resume();
    });
    // A connection that was idle for too long may be closed just now.
    sent.on('error', (error) => (sent.reusedSocket ? resolve(post(url, { body, headers })) : reject(error)));
    sent.end(JSON.stringify(body));
  });
}

function cpuMs({ replicas }: TestCluster): number {
  const of = (pid: number): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICKS_MS;
  };
  return replicas.reduce((sum, { parley }) => sum + of(parley.child.pid!), 0);
}

async function load(calls: number, { replicas }: TestCluster, call: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < calls * replicas.length) await call(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE * replicas.length }, work));
}

const look = () => rpc('tools/call', { name: 'look', arguments: { id: 'x' } });
const sorted = (all: readonly number[]): number[] => all.toSorted((a, b) => a - b);
const at = (all: readonly number[], share: number): number => sorted(all)[Math.floor(all.length * share)]!;
const median = (all: readonly number[]): number => at(all, 0.5);

it.runIf(process.env['PARLEY_MEASURE'])(
  'three gateways carry almost three times the calls of one, and forwarding adds less than a millisecond',
  { timeout: 1_800_000 },
  async () => {
    await using redis = await startRedis();
    await using effects = await EffectsServer.start();
    const servers = { effects: { url: effects.url } };
    const alone = { state: undefined, cluster: undefined };
    await using one = await TestCluster.start({ redis: redis.url, servers, replicas: 1, config: alone });
    await using three = await TestCluster.start({ redis: redis.url, servers });

    const stateless =
      ({ replicas }: TestCluster) =>
      (n: number) =>
        post(replicas[n % replicas.length]!.url, modern('tools/call', { name: 'look', arguments: { id: 'x' } }));
    const inSession = async ({ replicas }: TestCluster) => {
      const sessions = await Promise.all(replicas.map(({ url }) => openSession(url)));
      return (n: number) =>
        post(replicas[n % replicas.length]!.url, {
          body: look(),
          headers: sessions[Math.floor(n / 3) % sessions.length]!.headers,
        });
    };
    const kinds = {
      stateless: [stateless(one), stateless(three)],
      session: [await inSession(one), await inSession(three)],
    } as const;
    const ratios: Record<string, number[]> = { stateless: [], session: [] };
    const costs: Record<string, [number[], number[]]> = { stateless: [[], []], session: [[], []] };
    for (const [kind, calls] of Object.entries(kinds)) {
      for (const [index, cluster] of [one, three].entries()) await load(3 * CALLS, cluster, calls[index]!);
      for (let round = 0; round < ROUNDS; round++) {
        const spent = [];
        for (const [index, cluster] of [one, three].entries()) {
          const before = cpuMs(cluster);
          await load(CALLS, cluster, calls[index]!);
          spent.push((cpuMs(cluster) - before) / (CALLS * cluster.replicas.length));
          costs[kind]![index]!.push(spent[index]!);
        }
        ratios[kind]!.push(spent[1]! / spent[0]!);
      }
    }

    const [here, there]: [number[], number[]] = [[], []];
    const { headers } = await openSession(three.replicas[0]!.url);
    const sent = () => ({ body: look(), headers });
    for (let n = 0; n < FORWARDED + 500; n++) {
      const [own, other] = [await post(three.replicas[0]!.url, sent()), await post(three.replicas[1]!.url, sent())];
      if (n < 500) continue;
      here.push(own);
      there.push(other);
    }
    const added = median(there) - median(here);
    const rowOf = (kind: string, what: string): string => {
      const [alone, together] = costs[kind]!.map((all) => median(all).toFixed(3));
      const ratio = median(ratios[kind]!);
      return `| ${what} | ${alone} ms | ${together} ms | ${ratio.toFixed(2)} | ${(3 / ratio).toFixed(2)} |`;
    };
    renewPart('calls', [
      `Node ${process.version.slice(1)}, ${availableParallelism()} cores that clients, gateways and the server share. Two cores cannot show what three machines carry, so it is derived from the CPU time`,
      `of the gateways: three machines carry 3 divided by what a call costs in three, compared with a gateway alone (no \`state\`, no \`cluster\`). Medians of ${ROUNDS} rounds of ${CALLS} calls for each gateway, ${AT_ONCE} at once.`,
      '',
      '| calls | CPU of a call, alone | in three | ratio | three carry |',
      '|---|---:|---:|---:|---:|',
      rowOf('stateless', 'without a session'),
      rowOf('session', 'in sessions, each call at the next gateway: two of three are forwarded'),
      '',
      `| one call at a time, ${FORWARDED} | median | 99 % |`,
      '|---|---:|---:|',
      `| at the gateway that has the session | ${median(here).toFixed(2)} ms | ${at(here, 0.99).toFixed(2)} ms |`,
      `| at another one, which forwards it | ${median(there).toFixed(2)} ms | ${at(there, 0.99).toFixed(2)} ms |`,
      '',
      `Forwarding adds ${added.toFixed(2)} ms to the median.`,
    ]);
    console.log({ ratios, added });
    expect(median(ratios.stateless!)).toBeLessThanOrEqual(1.1);
    expect(added).toBeLessThanOrEqual(1);
  },
);
