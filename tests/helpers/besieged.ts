// A gateway in a process of its own that is attacked, beside a polite client whose calls must go on.
import { readFileSync } from 'node:fs';
import { startHttp, childrenOf, fixture } from './fixture-server.ts';
import type { HttpFixture } from './fixture-server.ts';
import { ask } from './mcp-http.ts';

export interface Besieged extends HttpFixture {
  /** The most memory that the process has had, in MB. */
  peakMb(): number;
  children(): number;
  /** Makes polite calls, one after the other, until the attack is over; returns how many. */
  during(attack: () => Promise<unknown>): Promise<number>;
}

export async function besieged(servers: object = {}, limits: object = {}): Promise<Besieged> {
  const polite = fixture('hostile');
  const env = { SERVERS: JSON.stringify({ polite, ...servers }), LIMITS: JSON.stringify(limits) };
  const gateway = await startHttp(fixture('gateway', [], { env }));
  await ask(gateway.url, 'polite__echo', { text: 'hello' });
  return {
    ...gateway,
    peakMb: () => peakMbOf(gateway.pid),
    children: () => childrenOf(gateway.pid).length,
    during: (attack) => politely(gateway.url, attack),
  };
}

function peakMbOf(pid: number): number {
  const [, kb = 'NaN'] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

async function politely(url: string, attack: () => Promise<unknown>): Promise<number> {
  const state = { isOver: false };
  const attacking = attack().finally(() => (state.isOver = true));
  attacking.catch(() => {}); // awaited below
  let calls = 0;
  do {
    const said = await ask(url, 'polite__echo', { text: `call ${calls}` });
    if (said !== `call ${calls}`) throw new Error(`the polite client got ${said}`);
    calls++;
  } while (!state.isOver);
  await attacking;
  return calls;
}
