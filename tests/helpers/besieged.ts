// A gateway in a process of its own that is attacked, beside a polite client whose calls must go on, and a twin that nobody attacks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/kernel/base/limits.ts';
import { startHttp, childrenOf, fixture } from './fixture-server.ts';
import type { HttpFixture } from './fixture-server.ts';
import { ROOT } from './files.ts';
import { ask } from './mcp-http.ts';
import { noteShape } from './shape-table.ts';
import { until, within } from './until.ts';

/**
 * Measured runs (`PARLEY_SHAPES=measure`) go on attacking for so long, in several rounds, and compare the polite client with its twin. The best
 * round counts: what else the machine does can only make the gateway slower, and it slows one that works more than one that rests.
 */
const ROUNDS = process.env.PARLEY_SHAPES === 'measure' ? 3 : 1;
const ROUND_MS = process.env.PARLEY_SHAPES === 'measure' ? 2500 : 0;
/** When an attack is repeated without a pause, servers of those before may still be ending. */
const ENDING = ROUNDS > 1 ? 10 : 0;
const MiB = 1024 * 1024;
/**
 * The memory that a process may use beyond what it has at rest: three times what it may hold, since V8 lets garbage pile up to a multiple
 * of what lives before it collects, and one message of the largest size, which is parsed or joined.
 */
const HELD_FACTOR = 3;
const SLACK_MB = 64;
const SLOWER = 2;

export interface Besieged extends HttpFixture {
  /** The most memory that the process has had, in MB. */
  peakMb(): number;
  children(): number;
  /** Makes polite calls, one after the other, until the attack is over. */
  during(attack: () => Promise<unknown>): Promise<void>;
  /** After the attack: memory, processor time and children were within their budgets. Its figures become a row of docs/evidence/attacks.md. */
  expectHeld(shape: string, budget?: ShapeBudget): void;
  /** Waits until the polite client has made so many calls more. */
  politeCalls(count: number): Promise<void>;
}

export interface ShapeBudget {
  /** Processor time of the gateway for the whole attack, in seconds; a measured run attacks longer. */
  cpuSeconds?: number;
  children?: number;
}

interface PoliteFigures {
  calls: number;
  medianMs: number;
  twinMs: number;
  worstMs: number;
  faults: string[];
}

/** `stateFolder`: where it pins what servers list. */
export async function besieged(
  servers: object = {},
  limits: Partial<typeof DEFAULT_LIMITS> = {},
  stateFolder?: string,
): Promise<Besieged> {
  const [gateway, twin] = await Promise.all([started(servers, limits, stateFolder), started({}, {})]);
  const baseMb = memoryMb(gateway.pid, 'VmRSS');
  const cpuBefore = cpuSeconds(gateway.pid);
  let most = 0;
  let polite: PoliteFigures | undefined;
  const progress = { calls: 0 };
  const children = () => childrenOf(gateway.pid).length;
  const stop = async () => void (await Promise.all([gateway.stop(), twin.stop()]));
  return {
    ...gateway,
    stop,
    [Symbol.asyncDispose]: stop,
    peakMb: () => memoryMb(gateway.pid, 'VmHWM'),
    children,
    async politeCalls(count) {
      const enough = progress.calls + count;
      await until(`${count} polite calls`, () => progress.calls >= enough);
    },
    async during(attack) {
      const watch = setInterval(() => (most = Math.max(most, children())), 20);
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const figures = await politely([gateway.url, twin.url], progress, attack);
          if (!polite || slownessOf(figures) < slownessOf(polite)) polite = figures;
        }
      } finally {
        clearInterval(watch);
      }
    },
    expectHeld(shape, budget = {}) {
      const held = { ...DEFAULT_LIMITS, ...limits }.maxHeldBytes / MiB;
      const budgetMb = baseMb + HELD_FACTOR * held + SLACK_MB;
      const cpu = cpuSeconds(gateway.pid) - cpuBefore;
      const row = { shape, baseMb, peakMb: memoryMb(gateway.pid, 'VmHWM'), budgetMb, cpu, children: most, ...polite! };
      noteShape(row);
      expect(row.peakMb).toBeLessThan(budgetMb);
      expect(most).toBeLessThanOrEqual((budget.children ?? Object.keys(servers).length + 1) + ENDING);
      if (ROUND_MS === 0) expect(cpu).toBeLessThan(budget.cpuSeconds ?? 10);
      else expect(slownessOf(row)).toBeLessThan(SLOWER);
    },
  };
}

async function started(servers: object, limits: object, stateFolder?: string): Promise<HttpFixture> {
  const env = {
    SERVERS: JSON.stringify({ polite: fixture('hostile'), ...servers }),
    LIMITS: JSON.stringify(limits),
    ...(stateFolder !== undefined && { STATE: stateFolder }),
  };
  const gateway = await startHttp(fixture('gateway', [], { env }));
  for (let n = 0; n < 5; n++) await ask(gateway.url, 'polite__echo', { text: 'hello' });
  return gateway;
}

function slownessOf({ medianMs, twinMs }: PoliteFigures): number {
  return medianMs / twinMs;
}

function memoryMb(pid: number, kind: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kb = 'NaN'] = new RegExp(`^${kind}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return Number(kb) / 1024;
}

/** User and system time; the kernel counts in hundredths. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function politely(
  urls: string[],
  progress: { calls: number },
  attack: () => Promise<unknown>,
): Promise<PoliteFigures> {
  const program = join(ROOT, 'tests', 'fixtures', 'programs', 'polite-client.mjs');
  const child = spawn(process.execPath, [program, ...urls], { stdio: ['pipe', 'pipe', 'inherit'] });
  let last = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = line;
    progress.calls++;
  });
  try {
    const before = progress.calls;
    await until('the polite client', () => progress.calls > before);
    const end = Date.now() + ROUND_MS;
    do await attack();
    while (Date.now() < end);
    child.stdin.end();
    await within('the polite client to end', once(child, 'exit'), 120_000);
  } finally {
    child.kill('SIGKILL');
  }
  const figures = JSON.parse(last) as PoliteFigures;
  expect(figures.faults).toEqual([]);
  return figures;
}
