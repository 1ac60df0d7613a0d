import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { result, stream, type Seen } from '../fixtures/serve.mjs';
import { isLostAnswer } from '../links/link.ts';
import { open } from '../http-peer.contract.ts';
import { call, note } from '../../../gateway/servers/upstream.contract.ts';

const reconnect = { firstMs: 1, maxMs: 5, maxAttempts: 3 };

test('a stream that is cut is resumed after the last event that came, with session and headers', async () => {
  await using peer = await open(
    (seen, response) => {
      if (seen.method === 'POST')
        return cutAfter(response, [
          { id: 'e1', data: '' },
          { id: 'e2', data: note({ n: 1 }) },
        ]);
      const write = stream(response);
      write({ id: 'e3', data: note({ n: 2 }) });
      write({ id: 'e4', data: result('echo', { ok: true }) });
      response.end();
    },
    { reconnect },
  );
  peer.link.setHeaders?.({ 'mcp-protocol-version': '2025-11-25' });
  await peer.link.send(call('echo'), { headers: { authorization: 'Bearer call' } });
  expect(await peer.told.answer('echo')).toMatchObject({ result: { ok: true } });
  expect(peer.told.notes()).toEqual([{ n: 1 }, { n: 2 }]);
  expect(peer.told.messages.map(({ from }) => from)).toEqual(['echo', 'echo', 'echo']);
  expect(gets(peer.server.seen)).toHaveLength(1);
  expect(gets(peer.server.seen)[0]!.headers).toMatchObject({
    accept: 'text/event-stream',
    'last-event-id': 'e2',
    'mcp-session-id': 's',
    'mcp-protocol-version': '2025-11-25',
    authorization: 'Bearer call',
  });
});

test('a server that lets the client poll is polled until it answers, each time from the last id', async () => {
  await using peer = await open(
    ({ method }, response, all) => {
      const write = stream(response);
      if (gets(all).length < 6) write({ id: `${method}${gets(all).length}`, retry: 1, data: '' });
      else write({ data: result('echo') });
      response.end();
    },
    { reconnect: { ...reconnect, firstMs: 60_000 } },
  );
  await peer.link.send(call('echo'));
  await peer.told.answer('echo');
  const ids = gets(peer.server.seen).map(({ headers }) => headers['last-event-id']);
  expect(ids).toEqual(['POST0', 'GET1', 'GET2', 'GET3', 'GET4', 'GET5']);
});

test('an event id of any characters comes back as the bytes that it was', async () => {
  await using peer = await open(
    ({ method }, response) => {
      if (method === 'POST') return cutAfter(response, [{ id: 'ключ 1', data: '' }]);
      stream(response)({ data: result('echo') });
      response.end();
    },
    { reconnect },
  );
  await peer.link.send(call('echo'));
  await peer.told.answer('echo');
  const [get] = gets(peer.server.seen);
  expect(Buffer.from(String(get!.headers['last-event-id']), 'latin1').toString()).toBe('ключ 1');
});

test('a stream without event ids that ends before the answer is reported as lost and not resumed', async () => {
  for (const end of ['end', 'destroy'] as const) {
    await using peer = await open((_, response) => {
      stream(response)({ data: note({ n: 1 }) });
      setImmediate(() => response[end]());
    });
    await peer.link.send(call('echo'));
    const lost = await peer.told.answer('echo');
    expect(lost).toMatchObject({ error: { code: -32603 } });
    expect(isLostAnswer(lost)).toBe(true);
    expect(peer.server.seen).toHaveLength(1);
  }
});

test('a stream that the server does not resume is reported as lost', async () => {
  for (const status of [404, 405, 400]) {
    await using peer = await open(
      ({ method }, response) => {
        if (method === 'POST') cutAfter(response, [{ id: 'e1', data: '' }]);
        else response.writeHead(status).end();
      },
      { reconnect },
    );
    await peer.link.send(call('echo'));
    expect(await peer.told.answer('echo')).toMatchObject({ error: { message: `The answer was lost: HTTP ${status}` } });
    expect(gets(peer.server.seen)).toHaveLength(1);
  }
});

test('a server that keeps failing is given up after the attempts that were allowed', async () => {
  await using peer = await open(
    ({ method }, response) => {
      if (method === 'POST') cutAfter(response, [{ id: 'e1', data: '' }]);
      else response.writeHead(503).end();
    },
    { reconnect },
  );
  await peer.link.send(call('echo'));
  expect(await peer.told.answer('echo')).toMatchObject({ error: { message: 'The answer was lost: HTTP 503' } });
  expect(gets(peer.server.seen)).toHaveLength(3);
});

test('an oversize answer is reported as lost and not requested again', async () => {
  await using peer = await open(
    (_, response) => {
      stream(response)({ id: 'e1', data: result('echo', 'x'.repeat(5000)) });
      response.end();
    },
    { reconnect, limits: { maxResultBytes: 1000 } },
  );
  await peer.link.send(call('echo'));
  expect(await peer.told.answer('echo')).toMatchObject({ error: { message: expect.stringContaining('1000 bytes') } });
  expect(peer.told.garbage).toHaveLength(1);
  expect(peer.server.seen).toHaveLength(1);
});

test('an abort while waiting to resume ends the wait and reports nothing', async () => {
  await using peer = await open(
    (_, response) => cutAfter(response, [{ id: 'e1', retry: 300_000, data: note({ n: 1 }) }]),
    { reconnect },
  );
  const stop = new AbortController();
  await peer.link.send(call('echo'), { signal: stop.signal });
  await peer.told.until(() => peer.told.notes().length > 0, 'the event');
  stop.abort();
  await peer.link.close();
  expect(peer.told.messages).toHaveLength(1);
});

test('listen delivers unsolicited messages and resumes after the last event', async () => {
  await using peer = await open(
    ({ method }, response, all) => {
      const n = gets(all).length;
      if (method !== 'GET' || n === 2) response.writeHead(method === 'GET' ? 503 : 202).end();
      else cutAfter(response, n < 5 ? [{ id: `e${n}`, data: note({ n }) }] : [{ retry: 300_000 }]);
    },
    { reconnect },
  );
  peer.link.listen?.();
  peer.link.listen?.();
  await peer.told.until(() => peer.told.notes().length === 3, 'three messages');
  expect(peer.told.notes()).toEqual([{ n: 1 }, { n: 3 }, { n: 4 }]);
  expect(peer.told.messages.every(({ from }) => from === undefined)).toBe(true);
  const ids = gets(peer.server.seen).map(({ headers }) => headers['last-event-id']);
  expect(ids.slice(0, 4)).toEqual([undefined, 'e1', 'e1', 'e3']);
});

test('a server without a listen stream is asked once, and the link stays open', async () => {
  for (const status of [405, 404, 400]) {
    const ended: unknown[] = [];
    const log = { debug: (fields: object) => ended.push(fields) } as never;
    await using peer = await open(
      ({ method, message }, response) => {
        if (method === 'GET') response.writeHead(status).end();
        else response.writeHead(200, { 'content-type': 'application/json' }).end(result(message.id));
      },
      { reconnect, log },
    );
    peer.link.listen?.();
    await expect.poll(() => ended, { timeout: 25_000 }).toMatchObject([{ kind: 'lost', reason: `HTTP ${status}` }]);
    await peer.link.send(call('echo'));
    await peer.told.answer('echo');
    expect(gets(peer.server.seen)).toHaveLength(1);
    expect([peer.told.closes, peer.told.garbage]).toEqual([[], []]);
  }
});

function gets(seen: Seen[]): Seen[] {
  return seen.filter(({ method }) => method === 'GET');
}

/** Writes events, and cuts the connection in the midst of the stream once they are on their way. */
function cutAfter(response: ServerResponse, events: Parameters<ReturnType<typeof stream>>[0][]): void {
  const write = stream(response, { 'mcp-session-id': 's' });
  for (const event of events) write(event);
  response.write(': cut\n', () => response.destroy());
}
