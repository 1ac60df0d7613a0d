// A client that goes away in the middle of a flow, and its user, who comes back: to the same process, or to another one.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import type { ConnectOptions } from 'mcp-parley';
import { createSqliteStore, flow, memoryStore, serveFlows } from 'mcp-parley/flow';
import type { FlowStore } from 'mcp-parley/flow';
import { connected } from '../helpers/fixture-server.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until, within } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const folder = mkdtempSync(join(tmpdir(), 'parley-resume-'));
afterAll(() => removeFolder(folder));

const trip = flow({ name: 'trip' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', alone: true });
  const days = await ask.number('days', { message: 'How long?', alone: true });
  return { city, days, ok: await ask.confirm('ok', { message: `${city} for ${days} days?` }) };
});

async function serving(store: FlowStore, identify = true) {
  const who = (request: { headers: Record<string, unknown> }) => String(request.headers['x-user'] ?? 'ada');
  const server = createServer({ name: 'trips', version: '1', log, ...(identify && { identify: who }) });
  const sessions = serveFlows(server, [trip], { store, keys: ['the key of this test'] });
  const { url } = await server.listen({ port: 0 });
  return { server, url, sessions };
}

type Reply = Record<string, unknown> | 'leave' | 'cancel';

interface Caller {
  args?: Record<string, unknown>;
  user?: string;
  revision?: string;
  /** Before the connection is closed. */
  after?: () => Promise<unknown>;
}

/** Answers what is asked in turn; `leave` closes the connection instead, `cancel` calls the call off. */
async function play(
  url: string,
  replies: Reply[],
  { args = {}, user = 'ada', revision = '2025-11-25', after }: Caller = {},
) {
  const asked: string[] = [];
  const gone = new AbortController();
  const onElicit: NonNullable<ConnectOptions['onElicit']> = ({ message }) => {
    asked.push(message);
    const reply = replies[asked.length - 1] ?? 'cancel';
    if (reply === 'leave') {
      void client.close();
      return new Promise<never>(() => {});
    }
    if (reply !== 'cancel') return { action: 'accept', content: reply as never };
    gone.abort();
    return new Promise<never>(() => {});
  };
  const client = await connected({ url, headers: { 'x-user': user } }, { revision, onElicit });
  const outcome = await within(
    'the call',
    client.callTool('trip', args, { signal: gone.signal }).then(
      ({ structuredContent }) => structuredContent,
      () => undefined,
    ),
  );
  await after?.();
  await client.close();
  return { asked, outcome };
}

const OFFER = 'You started this before and answered 2 questions. The next question is: Oslo for 3 days?';
const BEGUN: Reply[] = [{ city: 'Oslo' }, { days: 3 }, 'leave'];

describe.each(['the same process', 'another process'])('in %s', (where) => {
  const begun = async () => {
    const path = join(folder, `${Math.random()}.db`);
    const first = await serving(where === 'the same process' ? memoryStore() : await createSqliteStore({ path }));
    await play(first.url, BEGUN);
    if (where === 'the same process') return first;
    await first.server.close();
    return serving(await createSqliteStore({ path }));
  };

  test('continues from there', async () => {
    const { server, url } = await begun();
    const { asked, outcome } = await play(url, [{ resume: true }, { ok: true }]);
    expect(asked).toEqual([OFFER, 'Oslo for 3 days?']);
    expect(outcome).toEqual({ city: 'Oslo', days: 3, ok: true });
    expect((await play(url, [{ city: 'Rome' }, 'cancel'])).asked).toEqual(['Where to?', 'How long?']);
    await server.close();
  });

  test('continues from there with a client of 2026-07-28', async () => {
    const { server, url } = await begun();
    const { asked, outcome } = await play(url, [{ resume: true }, { ok: true }], { revision: '2026-07-28' });
    expect(asked).toEqual([OFFER, 'Oslo for 3 days?']);
    expect(outcome).toEqual({ city: 'Oslo', days: 3, ok: true });
    await server.close();
  });

  test('starts again with a client of 2026-07-28, and what was left is gone', async () => {
    const { server, url, sessions } = await begun();
    const replies = [{ resume: false }, { city: 'Rome' }, { days: 1 }, { ok: true }];
    const { asked, outcome } = await play(url, replies, { revision: '2026-07-28' });
    expect(asked).toEqual([OFFER, 'Where to?', 'How long?', 'Rome for 1 days?']);
    expect(outcome).toEqual({ city: 'Rome', days: 1, ok: true });
    expect(await sessions.list('ada')).toEqual([]);
    await server.close();
  });

  test('starts again, and what was left is gone', async () => {
    const { server, url, sessions } = await begun();
    const { asked, outcome } = await play(url, [{ resume: false }, { city: 'Rome' }, { days: 1 }, { ok: true }]);
    expect(asked).toEqual([OFFER, 'Where to?', 'How long?', 'Rome for 1 days?']);
    expect(outcome).toEqual({ city: 'Rome', days: 1, ok: true });
    expect(await sessions.list('ada')).toEqual([]);
    await server.close();
  });

  test('is not offered what others left, nor what other arguments would change', async () => {
    const { server, url } = await begun();
    expect((await play(url, ['cancel'], { user: 'bob' })).asked).toEqual(['Where to?']);
    expect((await play(url, ['cancel'], { args: { city: 'Rome' } })).asked).toEqual(['How long?']);
    expect((await play(url, ['leave'], { args: { city: 'Oslo' } })).asked).toEqual([OFFER]);
    await server.close();
  });
});

test('a cancelled session is not offered again, nor one whose caller cannot come back', async () => {
  const { server, url, sessions } = await serving(memoryStore());
  const after = () => until('the session to end', async () => (await sessions.list('ada')).length === 0);
  expect((await play(url, [{ city: 'Oslo' }, 'cancel'], { after })).asked).toHaveLength(2);
  expect((await play(url, ['cancel'])).asked).toEqual(['Where to?']);
  await server.close();
  const open = await serving(memoryStore(), false);
  await play(open.url, BEGUN);
  expect((await play(open.url, ['cancel'])).asked).toEqual(['Where to?']);
  await open.server.close();
});
