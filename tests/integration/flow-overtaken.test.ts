// A person answers a form after another process has taken an answer, or has decided without one. The call goes on with what the session has
// come to.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { createRedisStore, createSqliteStore, serveFlows } from 'mcp-parley/flow';
import type { AnyFlow } from '../../src/flow/define.ts';
import { manualClock } from '../../src/flow/testing/manual-clock.ts';
import { ROOT } from '../helpers/files.ts';
import { socketWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { hasTool } from '../helpers/tools.ts';
import { until, within } from '../helpers/until.ts';

const PROGRAMS = join(ROOT, 'tests', 'fixtures', 'programs');
const closing: (() => unknown)[] = [];
let redis: RedisServer | undefined;
beforeAll(async () => {
  redis = hasTool('redis-server') ? await startRedis() : undefined;
});
afterAll(async () => redis?.[Symbol.asyncDispose]());
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const STORES = ['SQLite', ...(hasTool('redis-server') ? ['Redis'] : [])];

interface Place {
  sqlite?: { path: string };
  redis?: { url: string; prefix: string };
}

function placeOf(name: string): Place {
  if (name === 'Redis') return { redis: { url: redis!.url, prefix: `overtaken-${process.pid}-${Date.now()}` } };
  const folder = mkdtempSync(join(tmpdir(), 'parley-overtaken-'));
  closing.push(() => removeFolder(folder));
  return { sqlite: { path: join(folder, 'flows.db') } };
}

describe.each(STORES)('in %s', (name) => {
  /** A call whose form is shown, and what another process has done to its session meanwhile. */
  async function overtakenBy(value: string) {
    const place = placeOf(name);
    const { redis: inRedis, sqlite } = place;
    const store = inRedis ? await createRedisStore(inRedis) : await createSqliteStore(sqlite!);
    closing.push(() => store.close());
    const { createTrip } = (await import(join(PROGRAMS, 'trip.mjs'))) as {
      createTrip: (work: () => unknown) => AnyFlow;
    };
    const server = createServer({
      name: 'trips',
      version: '1',
      log: createLog({ level: 'silent' }),
      identify: () => 'ada',
    });
    // No time passes, so that this process does not look by itself before the form is answered.
    const clock = manualClock(Date.now());
    const sessions = serveFlows(server, [createTrip(() => {})], { store, clock, keys: ['the key of every process'] });
    const { url } = await server.listen({ port: 0 });
    closing.push(() => server.close());
    const { wire, socket } = await socketWire(Number(new URL(url).port));
    closing.push(() => socket.close());
    await wire.initialize('2025-11-25', { elicitation: {} });
    wire.write({ jsonrpc: '2.0', id: 'the call', method: 'tools/call', params: { name: 'trip', arguments: {} } });
    const form = await formOf(wire, 'what');
    const [open] = await sessions.list('ada');
    const program = join(PROGRAMS, 'answer-elsewhere.mjs');
    const child = spawn(process.execPath, [program, JSON.stringify(place), open!.id, value], {
      cwd: ROOT,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    closing.push(() => child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const heard = async (line: string) =>
      expect((await within(`the other process to say ${line}`, lines.next())).value).toBe(line);
    await heard('taken');
    const answer = (content: object, to: unknown) =>
      wire.write({ jsonrpc: '2.0', id: to, result: { action: 'accept', content } });
    answer({ what: 'late' }, form.id);
    /** While time passes. */
    const result = async () => {
      const found = await until('the result', () => {
        clock.move(250);
        return wire.messages.find(({ id, method }) => id === 'the call' && method === undefined);
      });
      return found.result;
    };
    const finish = async () => {
      child.stdin.write('\n');
      await heard('done');
    };
    return { wire, answer, finish, result };
  }

  test('a call has the result that the other process came to', async () => {
    const { result, finish } = await overtakenBy('end');
    expect(await result()).toMatchObject({ structuredContent: { what: 'end', more: 'nothing' } });
    await finish();
  });

  test('a call fails as it did in the other process', async () => {
    const { result, finish } = await overtakenBy('fail');
    expect(await result()).toMatchObject({ isError: true, content: [{ text: 'There is no such trip' }] });
    await finish();
  });

  test('a call says that it was cancelled in the other process, and why', async () => {
    const { result, finish } = await overtakenBy('cancel');
    expect(await result()).toMatchObject({ isError: true, content: [{ text: 'trip was cancelled: Wrong shop' }] });
    await finish();
  });

  test('a call asks the question that follows, and says that the one before is not asked any more', async () => {
    const { wire, result, answer, finish } = await overtakenBy('ask');
    const next = await formOf(wire, 'more');
    expect(next.params?.['message']).toBe('The previous question is no longer asked.\nWhen?');
    answer({ more: 'Monday' }, next.id);
    expect(await result()).toMatchObject({ structuredContent: { what: 'ask', more: 'Monday' } });
    await finish();
  });

  test('a call waits for the work of the other process', async () => {
    const { result, finish } = await overtakenBy('work');
    await finish();
    expect(await result()).toMatchObject({ structuredContent: { what: 'work', more: 'nothing' } });
  });
});

function formOf(wire: Wire, field: string): Promise<Wire['messages'][number]> {
  return wire.find(`the form with ${field}`, ({ method, params }) => {
    const { properties = {} } = (params?.['requestedSchema'] ?? {}) as { properties?: object };
    return method === 'elicitation/create' && field in properties;
  });
}
