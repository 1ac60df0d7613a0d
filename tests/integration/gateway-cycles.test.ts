// Clients and servers that come and are killed, by the hundred, leave nothing in a gateway that lives on: no child process, no
// socket, no timer, no memory. The gateway is a process of its own, which tells what it holds.
import { expect, test } from 'vitest';
import { connect, createLog } from 'mcp-parley';
import type { Client, ConnectOptions } from 'mcp-parley';
import { fixture, startHttp, textOf } from '../helpers/fixture-server.ts';
import { KILLED_CLIENTS } from '../helpers/killed-clients.ts';
import { untilWell, well } from '../helpers/moody.ts';
import { until, within } from '../helpers/until.ts';

/** It takes half a minute on an idle machine. */
const TEST_MS = 600_000;
const CYCLES = 500;
const PARTS = 5;
/**
 * What a part may leave in the heap: some 2.6 KB for each of its cycles. Code is still being compiled and cached then: over
 * 1500 cycles it was seen to fall to 0.5 KB.
 */
const LEAK_BYTES = 256 * 1024;

interface Held {
  handles: string[];
  timers: number;
  children: string[];
  heapUsed: number;
  linesPort: number;
}

interface Running extends AsyncDisposable {
  url: string;
  client: (options?: ConnectOptions) => Promise<Client>;
  held: () => Promise<Held>;
}

/** Before one server that is a process and one behind HTTP. A call that nobody waits for ends soon, and so does a session. */
async function startGateway(): Promise<Running> {
  const web = await startHttp(fixture('bridged', ['--port', '0']));
  const servers = {
    one: { server: well('one'), timeoutMs: 2000 },
    web: { server: web.url, revision: '2025-11-25', timeoutMs: 2000 },
  };
  const env = { SERVERS: JSON.stringify(servers), LIMITS: JSON.stringify({ sessionIdleMs: 2000, ownIdleMs: 2000 }) };
  const gateway = await startHttp(fixture('gateway', [], { gc: true, env }));
  const { url } = gateway;
  const log = createLog({ level: 'silent' });
  const client = (options: ConnectOptions = {}): Promise<Client> =>
    within('connect', connect(url, { log, revision: '2025-11-25', ...options }));
  /** Asked by a client that comes and goes for it, so that it is always the same that is held for it. */
  const held = async (): Promise<Held> => {
    const asking = await client({ revision: '2026-07-28' });
    const told = JSON.parse(await textOf(asking, 'self')) as Held;
    await asking.close();
    return told;
  };
  const dispose = async (): Promise<void> => void (await Promise.all([gateway.stop(), web.stop()]));
  return { url, client, held, [Symbol.asyncDispose]: dispose };
}

/** Nothing more than at first; it may be a little later. */
async function untilBackTo(first: Held, held: () => Promise<Held>): Promise<Held> {
  let last = first;
  return until('all that was held to be let go', async () => {
    last = await held();
    const isLess = last.handles.length <= first.handles.length && last.timers <= first.timers;
    return isLess && last.children.length <= first.children.length ? last : undefined;
  }).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(first)} became ${JSON.stringify(last)}`);
  });
}

/** One that does all as it should, for comparison. */
async function polite(gateway: Running, revision: string): Promise<void> {
  const client = await gateway.client({ revision });
  expect(await textOf(client, 'one_echo', { text: 'hello' })).toBe('hello');
  expect(await textOf(client, 'echo', { text: 'hello' })).toBe('hello');
  await within('close', client.close());
}

/** Ten cycles: nine clients side by side, then the server process; each time another server is called. */
async function round(gateway: Running, index: number, { linesPort }: Held): Promise<void> {
  const tool = index % 2 === 0 ? 'one_hang' : 'hang';
  const killed = Object.values(KILLED_CLIENTS).map((kill) => kill({ url: gateway.url, linesPort }, tool));
  await Promise.all([...killed, polite(gateway, '2025-11-25'), polite(gateway, '2026-07-28')]);
}

async function killServer(client: Client): Promise<void> {
  process.kill(Number(await textOf(client, 'one_pid')), 'SIGKILL');
  await untilWell(client, 'one_echo');
}

test(
  `${CYCLES} clients and servers that are killed leave nothing behind`,
  async () => {
    await using gateway = await startGateway();
    const client = await gateway.client();
    await untilWell(client, 'one_echo');
    await untilWell(client, 'echo');
    // The first client of each era has the gateway find out whether the server speaks that era, in a process that ends soon.
    await polite(gateway, '2026-07-28');
    const first = await until('a single process', async () => {
      const held = await gateway.held();
      return held.children.length === 1 ? held : undefined;
    });
    const cyclesOfRound = Object.keys(KILLED_CLIENTS).length + 3;
    const heaps: number[] = [];
    let cycles = 0;
    for (let part = 1; part <= PARTS; part++) {
      for (let index = 0; cycles < (CYCLES * part) / PARTS; index++, cycles += cyclesOfRound) {
        await round(gateway, index, first);
        await killServer(client);
      }
      heaps.push((await untilBackTo(first, gateway.held)).heapUsed);
    }
    // What is compiled and cached once is paid for by one part or another; a leak is paid for by each.
    const growths = heaps.slice(1).map((heap, index) => heap - heaps[index]!);
    expect(Math.min(...growths.slice(-3)), `the heap after each part: ${heaps.join(', ')}`).toBeLessThan(LEAK_BYTES);
    await client.close();
  },
  TEST_MS,
);
