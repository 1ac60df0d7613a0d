// Servers of every revision and transport whose answers are valid ones, changed at random, behind one gateway, before clients of the
// official SDKs. Every call ends with a result or an error of the protocol, and nothing is left behind. `MUTATED_ANSWERS=100000` for the long
// run; `MUTATED_SEED` repeats another one.
import { expect, onTestFinished, test } from 'vitest';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { ProtocolError, SdkError } from '@modelcontextprotocol/client';
import { fixture, startHttp } from '../../helpers/fixture-server.ts';
import { ask } from '../../helpers/mcp-http.ts';
import { until } from '../../helpers/until.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';
import type { SdkClient } from './helpers/sdk-clients.ts';

const ANSWERS = Number(process.env.MUTATED_ANSWERS ?? 1000);
const SEED = Number(process.env.MUTATED_SEED ?? 20261117);
const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const LANES = 16;
const TIMEOUT_MS = 500;
/** A process ends when nobody has used it for this long. */
const IDLE_MS = 5000;
/**
 * Official clients leave without ending their sessions. Stateless ones have none: a call of theirs that was asked something waits for
 * its answer until `parkedMs`, and so does its process.
 */
const LIMITS = { sessionIdleMs: 3 * IDLE_MS, ownIdleMs: IDLE_MS, parkedMs: IDLE_MS };
const MORE_HEAP = 30 * 1024 * 1024;

interface Self {
  heapUsed: number;
  children: string[];
}

interface Sent {
  method: string;
  /** Every server answers. */
  isList?: boolean;
  send: () => Promise<unknown>;
}

/** One of each method, as a client sends it. */
function requests(client: SdkClient['client'], server: string, seed: number): Sent[] {
  const options = { timeout: 60_000 };
  const params = { name: `${server}__echo`, arguments: { text: 'x' } };
  const ref = { type: 'ref/prompt' as const, name: `${server}__brief` };
  const call = { method: 'tools/call', send: () => client.callTool(params, undefined, options) };
  return [
    call,
    call,
    call,
    { method: 'tools/list', isList: true, send: () => client.listTools({}, options) },
    { method: 'prompts/list', isList: true, send: () => client.listPrompts({}, options) },
    { method: 'prompts/get', send: () => client.getPrompt({ ...ref, arguments: { who: 'me' } }, options) },
    { method: 'resources/list', isList: true, send: () => client.listResources({}, options) },
    { method: 'resources/templates/list', isList: true, send: () => client.listResourceTemplates({}, options) },
    { method: 'resources/read', send: () => client.readResource({ uri: `file:///${seed}/a` }, options) },
    {
      method: 'completion/complete',
      send: () => client.complete({ ref, argument: { name: 'who', value: 'a' } }, options),
    },
  ];
}

test(`${ANSWERS} answers of servers that change them (seed ${SEED})`, { timeout: 60_000 + ANSWERS * 60 }, async () => {
  const servers: Record<string, object> = {};
  for (const [at, revision] of REVISIONS.entries()) {
    const name = `m${revision.replaceAll('-', '')}`;
    const pipe = fixture('mutating', [revision, String(SEED + at)]);
    const http = await startHttp(fixture('mutating', [revision, String(SEED + at + 50), 'http']));
    onTestFinished(() => http.stop());
    const settings = { timeoutMs: TIMEOUT_MS, idleMs: IDLE_MS, revision };
    servers[name] = { server: pipe, ...settings };
    servers[`${name}h`] = { server: { url: http.url }, ...settings };
  }
  servers.polite = { server: fixture('hostile'), idleMs: IDLE_MS };
  const env = { SERVERS: JSON.stringify(servers), LIMITS: JSON.stringify(LIMITS) };
  await using gateway = await startHttp(fixture('gateway', [], { gc: true, env }));
  const self = async (): Promise<Self> => JSON.parse(await ask(gateway.url, 'self')) as Self;
  const odd: string[] = [];
  const counts = { results: 0, errors: 0 };
  const play = async (total: number): Promise<void> => {
    let [next, answered] = [0, 0];
    const lane = async (number: number): Promise<void> => {
      const kind = KINDS[number % KINDS.length];
      await using peer = await connectSdk(kind, gateway.url);
      const names = Object.keys(servers).filter((name) => name !== 'polite');
      while (answered < total) {
        const at = next++;
        const server = names[at % names.length];
        const all = requests(peer.client, server, SEED + (at % REVISIONS.length));
        const { method, isList = false, send } = all[Math.floor(at / names.length) % all.length];
        const error = await send().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        answered += isList ? names.length : 1;
        if (error === undefined) counts.results++;
        else counts.errors++;
        if (error !== undefined && !isExpected(error, isList))
          odd.push(
            `call ${at}, ${method} of ${server} by ${kind}: ${String(error).replaceAll(/\s+/g, ' ').slice(0, 400)}`,
          );
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  };
  await play(Math.ceil(ANSWERS / 10));
  const before = await self();
  await play(ANSWERS);
  console.log(`${ANSWERS} answers: ${counts.results} calls had a result, ${counts.errors} an error`);
  expect(odd).toEqual([]);
  expect(counts.results).toBeGreaterThan(counts.errors);
  expect(await ask(gateway.url, 'polite__echo', { text: 'still here' })).toBe('still here');
  await until('its sessions and calls to end', async () => {
    const metrics = await (await fetch(gateway.url.replace('/mcp', '/metrics'))).text();
    return /^parley_sessions 0$/m.test(metrics) && /^parley_exchanges_in_flight 0$/m.test(metrics);
  });
  await until('all processes to end', async () => (await self()).children.length === 0);
  const after = await self();
  console.log(`heap ${before.heapUsed >> 20} → ${after.heapUsed >> 20} MB`);
  expect(after.heapUsed - before.heapUsed).toBeLessThan(MORE_HEAP);
});

/** An answer of one server that breaks the schema is passed on as it is: SDK v1 throws the error of its schema then. Lists are repaired. */
function isExpected(error: unknown, isList: boolean): boolean {
  if (error instanceof McpError || error instanceof ProtocolError || error instanceof SdkError) return true;
  return !isList && error instanceof Error && error.name.endsWith('ZodError');
}
