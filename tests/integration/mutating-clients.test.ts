// Clients over every transport that send valid messages of every method and both eras, changed at random: no crash, no hang, nothing left
// behind. `MUTATED_MESSAGES=1000000` for the long run; `MUTATED_SEED` repeats another one.
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toChance } from '../fixtures/servers/parts/mutate.mjs';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import { ask } from '../helpers/mcp-http.ts';
import { SENDERS } from '../helpers/mutating-clients.ts';
import { until } from '../helpers/until.ts';

const MESSAGES = Number(process.env.MUTATED_MESSAGES ?? 100_000);
const SEED = Number(process.env.MUTATED_SEED ?? 20261117);
/** Of all messages; those over HTTP wait for their answers. */
const SHARES: Record<string, number> = { HTTP: 0.15, 'HTTP+SSE': 0.05, WebSocket: 0.4, stdio: 0.4 };
const LANES = 2;
const MORE_HEAP = 30 * 1024 * 1024;
const MORE_HANDLES = 10;
/** A process ends when nobody has used it for this long. */
const IDLE_MS = 2000;
const LIMITS = { pollMs: 100, sessionIdleMs: IDLE_MS, ownIdleMs: IDLE_MS, parkedMs: IDLE_MS, taskTtlMs: IDLE_MS };

/** A call whose server gives no answer fails long before this test would. */
const POLITE = { server: fixture('hostile'), timeoutMs: 5000, idleMs: IDLE_MS };

interface Self {
  heapUsed: number;
  children: string[];
  linesPort: number;
}

test.runIf(process.platform === 'linux')(
  `${MESSAGES} messages of clients that change them (seed ${SEED})`,
  { timeout: 120_000 + MESSAGES * 10 },
  async () => {
    const env = { SERVERS: JSON.stringify({ polite: POLITE }), LIMITS: JSON.stringify(LIMITS) };
    await using gateway = await startHttp(fixture('gateway', [], { gc: true, env }));
    const self = async (): Promise<Self> => JSON.parse(await ask(gateway.url, 'self')) as Self;
    const { linesPort } = await self();
    const handles = () => readdirSync(`/proc/${gateway.pid}/fd`).length;
    const play = async (total: number, seed: number): Promise<void> => {
      const lanes = Object.entries(SENDERS).flatMap(([name, send], at) =>
        Array.from({ length: LANES }, (_, lane) =>
          send({ ...gateway, linesPort }, Math.ceil((total * SHARES[name]!) / LANES), toChance(seed + at * 10 + lane)),
        ),
      );
      await Promise.all(lanes);
      await until('its sessions and calls to end', async () => {
        const metrics = await (await fetch(gateway.url.replace('/mcp', '/metrics'))).text();
        return /^parley_sessions 0$/m.test(metrics) && /^parley_exchanges_in_flight 0$/m.test(metrics);
      });
      expect(await ask(gateway.url, 'polite__echo', { text: 'still here' })).toBe('still here');
    };
    await play(MESSAGES / 10, SEED + 1000);
    const before = { ...(await self()), handles: handles() };
    await play(MESSAGES, SEED);
    await until('all processes to end', async () => (await self()).children.length === 0);
    const after = { ...(await self()), handles: handles() };
    console.log(
      `heap ${before.heapUsed >> 20} → ${after.heapUsed >> 20} MB, handles ${before.handles} → ${after.handles}`,
    );
    expect(after.heapUsed - before.heapUsed).toBeLessThan(MORE_HEAP);
    expect(after.handles - before.handles).toBeLessThan(MORE_HANDLES);
  },
);
