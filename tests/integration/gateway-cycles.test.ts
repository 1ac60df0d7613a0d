// Clients and servers that come and go, by the hundred, leave nothing in a gateway that lives on: no child process, no socket,
// no timer. The gateway is a process of its own, which tells what it holds.
import { expect, test } from 'vitest';
import { connect, createLog } from 'mcp-parley';
import type { Client, ConnectOptions } from 'mcp-parley';
import { fixture, startHttp, textOf } from '../helpers/fixture-server.ts';
import { openSession } from '../helpers/mcp-http.ts';
import { untilWell, well } from '../helpers/moody.ts';
import { until, within } from '../helpers/until.ts';

const CYCLES = 100;
const ASKABLE: ConnectOptions = { onElicit: () => ({ action: 'decline' }) };

interface Held {
  handles: string[];
  timers: number;
  children: string[];
}

async function startGateway() {
  const env = { SERVERS: JSON.stringify({ one: well('one') }), LIMITS: JSON.stringify({ sessionIdleMs: 2000 }) };
  const server = await startHttp(fixture('gateway', [], { source: true, env }));
  const log = createLog({ level: 'silent' });
  const client = (options: ConnectOptions = {}): Promise<Client> =>
    within('connect', connect(server.url, { log, revision: '2025-11-25', ...options }));
  /** Asked by a client that comes and goes for it, so that it is always the same that is held for it. */
  const held = async (): Promise<Held> => {
    const asking = await client({ revision: '2026-07-28' });
    const told = JSON.parse(await textOf(asking, 'self')) as Held;
    await asking.close();
    return told;
  };
  return { url: server.url, client, held, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Nothing more than at first; it may be a little later. */
async function untilBackTo(first: Held, held: () => Promise<Held>): Promise<void> {
  let last = first;
  await until('all that was held to be let go', async () => {
    last = await held();
    const isLess = last.handles.length <= first.handles.length && last.timers <= first.timers;
    return isLess && last.children.length <= first.children.length;
  }).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(first)} became ${JSON.stringify(last)}`);
  });
}

test('clients that come, call and leave, or just vanish', async () => {
  await using gateway = await startGateway();
  const round = async (index: number): Promise<void> => {
    if (index % 4 === 0) return vanish(gateway.url, index % 8 === 0 ? { elicitation: {} } : {});
    const revision = index % 4 === 1 ? '2026-07-28' : '2025-11-25';
    const client = await gateway.client({ revision, ...(index % 4 === 2 && ASKABLE) });
    expect(await textOf(client, 'one_echo', { text: String(index) })).toBe(String(index));
    await within('close', client.close());
  };
  await round(1);
  const first = await gateway.held();
  for (let index = 0; index < CYCLES; index += 4) {
    await Promise.all([0, 1, 2, 3].map((more) => round(index + more)));
  }
  await untilBackTo(first, gateway.held);
});

/** Opens a session and a stream, makes a call, and is not heard of again. */
async function vanish(url: string, capabilities: Record<string, unknown>): Promise<void> {
  const session = await openSession(url, { capabilities });
  const stream = await session.stream();
  await session.call('one_echo', { text: 'x' });
  stream.close();
}

test('servers that are killed, again and again', async () => {
  await using gateway = await startGateway();
  const client = await gateway.client();
  await untilWell(client, 'one_echo');
  const first = await gateway.held();
  expect(first.children).toHaveLength(1);
  const pids = new Set<number>();
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const pid = Number(await textOf(client, 'one_pid'));
    pids.add(pid);
    process.kill(pid, 'SIGKILL');
    await untilWell(client, 'one_echo');
  }
  expect(pids.size).toBe(CYCLES);
  await untilBackTo(first, gateway.held);
  await client.close();
});
