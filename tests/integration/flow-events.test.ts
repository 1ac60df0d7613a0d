// Events that come by HTTP to a server that is killed, and those that should not come.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import type { HttpFixture } from '../helpers/fixture-server.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until } from '../helpers/until.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'parley-events-'))));
afterEach(() => removeFolder(folder));

const ledgerOf = () => join(folder, 'ledger');
const start = () => startHttp(fixture('waits', [JSON.stringify({ path: join(folder, 'flows.db') }), ledgerOf()]));

async function client({ port }: HttpFixture) {
  const { wire } = await socketWire(port, { 'x-user': 'ada' });
  await wire.initialize();
  return wire;
}

function lines(word: string): string[] {
  try {
    return readFileSync(ledgerOf(), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`${word} `));
  } catch {
    return [];
  }
}

const sentUrl = () => until('the URL', () => lines('url').at(-1)?.slice(4));

/** To this process, which may be another one than the URL was made in. */
async function post(url: string, { port }: HttpFixture, body: string, init: RequestInit = {}) {
  const there = new URL(url);
  there.port = String(port);
  const response = await fetch(there, { method: 'POST', body, ...init });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('an event by HTTP', () => {
  test('is not lost with the process that was killed after it had taken it, and counts once', async () => {
    await using first = await start();
    const wire = await client(first);
    const { result } = await wire.request('interaction.start', { toolName: 'bill' });
    const { sessionId } = result!;
    const url = await sentUrl();
    expect(await post(url, first, '{"sum":7}')).toEqual({ status: 200, body: { delivered: true } });
    await until('it goes on', () => lines('book').length === 1);
    await first.stop();

    await using second = await start();
    expect(await post(url, second, '{"sum":7}')).toEqual({ status: 200, body: { delivered: true, again: true } });
    expect((await post(url, second, '{"sum":8}')).status).toBe(409);
    const after = await client(second);
    const state = async () => (await after.request('interaction.getState', { sessionId })).result!;
    await until('the next question', async () => (await state()).state === 'waiting_user');
    expect((await state()).currentPrompt).toMatchObject({ message: 'Why 7?' });
    expect(lines('book')).toEqual(['book 1', 'book 2']);
    const response = { value: 'rent' };
    await after.request('interaction.respond', { sessionId, promptId: 'why~1', response });
    await until('the end', async () => (await state()).state === 'completed');
    expect(await post(url, second, '{"sum":7}')).toMatchObject({
      status: 409,
      body: { code: 'FLOW_INVALID_TRANSITION' },
    });
  });

  test('is not lost with a process that was killed before anybody waited for it again', async () => {
    await using first = await start();
    const wire = await client(first);
    await wire.request('interaction.start', { toolName: 'bill' });
    const url = await sentUrl();
    await first.stop();
    await using second = await start();
    expect(await post(url, second, '{"sum":7}')).toEqual({ status: 200, body: { delivered: true } });
    await until('it goes on', () => lines('book').length === 1);
  });

  test('is refused where the URL is forged, altered or of another server, and where it is not an event', async () => {
    await using server = await start();
    const wire = await client(server);
    await wire.request('interaction.start', { toolName: 'bill' });
    const url = await sentUrl();
    const altered = `${url.slice(0, -2)}${url.endsWith('A') ? 'B' : 'A'}${url.slice(-1)}`;
    const forged = url.replace(/t=.*/, `t=${Buffer.from('["session_x","paid"]').toString('base64url')}`);
    for (const wrong of [altered, forged, url.replace(/\?.*/, ''), `${url}${'A'.repeat(5000)}`]) {
      expect(await post(wrong, server, '{"sum":7}')).toEqual({
        status: 404,
        body: { error: 'Unknown event' },
      });
    }
    expect((await post(url, server, '{"sum":7', {})).status).toBe(400);
    expect((await post(url, server, '{"sum":"7"}')).body).toMatchObject({ code: 'FLOW_VALIDATION_FAILED' });
    expect((await post(url, server, JSON.stringify({ sum: 7, more: 'x'.repeat(2000) }))).status).toBe(413);
    const looked = await fetch(url);
    expect([looked.status, looked.headers.get('allow')]).toEqual([405, 'POST']);
    const from = await fetch(url, { method: 'POST', body: '{"sum":7}', headers: { origin: 'https://evil.example' } });
    expect(from.status).toBe(403);
    expect((await fetch(new URL('/mcp', url), { method: 'POST', body: '{}' })).status).toBeGreaterThanOrEqual(400);
    expect((await post(url, server, '{"sum":7}')).status).toBe(200);
  });

  test('that comes after it has lost a race is refused', async () => {
    await using server = await start();
    const wire = await client(server);
    const { result } = await wire.request('interaction.start', { toolName: 'race' });
    const url = await sentUrl();
    const { sessionId } = result!;
    await until('the question', async () => {
      const { result: state } = await wire.request('interaction.getState', { sessionId });
      return state!.state === 'waiting_user';
    });
    await wire.request('interaction.respond', { sessionId, promptId: 'by-hand~1', response: { value: true } });
    const late = await post(url, server, '{"sum":7}');
    expect(late).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('no longer awaited') as string },
    });
  });
});
