// The other participants of an incident: the head of operations, who approves, and the monitoring, which reports all
// clear. Both learn their task from the company and retry until the server has accepted it.
import { setTimeout as delay } from 'node:timers/promises';
import { connect, createLog } from 'mcp-parley';
import { ProtocolError } from '../../../src/kernel/base/errors.ts';
import type { Change } from '../../../examples/durable-flows/company.ts';

interface Where {
  url: string;
  /** Resolves when the server is back. */
  up: () => Promise<void>;
  /** The messages to the company so far. */
  changes: () => Promise<Change[]>;
}

const PAUSE_MS = 20;
/** The session or question no longer exists. */
const SETTLED = new Set([-32001, -32002, -32003]);
const log = createLog({ level: 'silent' });

export function startOthers(where: Where): AsyncDisposable {
  const stop = new AbortController();
  const acting = act(where, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await acting;
    },
  };
}

async function act({ url, up, changes }: Where, signal: AbortSignal): Promise<void> {
  const done = new Set<string>();
  while (!signal.aborted) {
    for (const { key, what, about, to } of await changes()) {
      if (signal.aborted || done.has(key)) continue;
      if (what !== 'asked' && what !== 'watch') continue;
      await up();
      const isDone = what === 'asked' ? await approve(url, about, to) : await sayAllClear(to);
      if (isDone) done.add(key);
    }
    await delay(PAUSE_MS);
  }
}

async function approve(url: string, person: string, asked: string): Promise<boolean> {
  const [sessionId, promptId] = asked.split(' ');
  try {
    await using client = await connect({ url, headers: { 'x-user': person } }, { log });
    await client.request('interaction.respond', { sessionId, promptId, response: { value: true } });
    return true;
  } catch (thrown) {
    return thrown instanceof ProtocolError && SETTLED.has(thrown.code); // it was answered, but the server died before it could confirm
  }
}

async function sayAllClear(url: string): Promise<boolean> {
  const response = await fetch(url, { method: 'POST', body: '{"errorsPerMinute":0}' }).catch(() => undefined);
  return response !== undefined && (response.ok || response.status === 409);
}
