import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { HttpHandler, HttpResponse } from '../../../kernel/base/http.ts';
import { toFetch } from './to-fetch.ts';

const url = 'http://app.example:8080/api/mcp?x=1';

async function seen(request: Request, platform?: unknown) {
  let told: object = {};
  const handler: HttpHandler = ({ method, url: path, headers, socket }, response) => {
    told = { method, path, headers, address: socket.remoteAddress };
    response.writeHead(204).end();
  };
  await toFetch(handler)(request, platform);
  return told;
}

/** A response that a handler has begun, with the handler's side of it. */
async function begun(request = new Request(url)): Promise<{ out: HttpResponse; response: Response }> {
  let out!: HttpResponse;
  const fetch = toFetch((_request, response) => {
    out = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
  });
  return { response: await fetch(request), out };
}

describe('a Request', () => {
  it('looks like a Node request, with the Host of its URL if it has none', async () => {
    expect(await seen(new Request(url, { headers: { Accept: 'a/b', 'X-Two': '2' } }))).toEqual({
      method: 'GET',
      path: '/api/mcp?x=1',
      headers: { accept: 'a/b', 'x-two': '2', host: 'app.example:8080', 'content-length': '0' },
      address: undefined,
    });
  });

  it('announces a body of unknown length', async () => {
    const told = await seen(new Request(url, { method: 'POST', body: 'x' }));
    expect(told).toMatchObject({ headers: { 'transfer-encoding': 'chunked' } });
  });

  it('has the remote address that Bun or Deno reports, and no other', async () => {
    const bun = { requestIP: () => ({ address: '10.0.0.1' }), timeout: () => {} };
    const request = () => new Request(url);
    expect(await seen(request(), bun)).toMatchObject({ address: '10.0.0.1' });
    expect(await seen(request(), { remoteAddr: { hostname: '10.0.0.2' } })).toMatchObject({ address: '10.0.0.2' });
    expect(await seen(request(), { params: Promise.resolve({}) })).toMatchObject({ address: undefined });
  });

  it('is read in chunks and only as far as needed', async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(100_000));
      },
    });
    const fetch = toFetch((request, response) => {
      request.once('data', () => {
        request.destroy();
        response.writeHead(413).end();
      });
    });
    const init = { method: 'POST', body, duplex: 'half' } as const;
    expect((await fetch(new Request(url, init))).status).toBe(413);
    await turn();
    expect(pulled).toBeLessThan(5);
  });
});

describe('a Response', () => {
  it('that is complete at once has its body and headers and no stream', async () => {
    const fetch = toFetch((_request, response) => {
      response.setHeader('vary', 'Origin');
      response.setHeader('x-gone', '1');
      response.removeHeader('x-gone');
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 4 });
      response.cork();
      response.write('{"a');
      response.write('":1}');
      response.uncork();
      response.end();
    });
    const response = await fetch(new Request(url));
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-length': '4',
      'content-type': 'application/json',
      vary: 'Origin',
    });
    expect(await response.json()).toEqual({ a: 1 });
  });

  it.each([202, 204, 304])('with status %d may be empty', async (status) => {
    const response = await toFetch((_request, out) => void out.writeHead(status).end())(new Request(url));
    expect([response.status, await response.text()]).toEqual([status, '']);
  });

  it('streams later writes at once', async () => {
    const { response, out } = await begun();
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    out.write('one');
    expect(await reader.read()).toEqual({ done: false, value: 'one' });
    out.write('two');
    expect(await reader.read()).toEqual({ done: false, value: 'two' });
    out.end();
    expect(await reader.read()).toMatchObject({ done: true });
  });

  it('becomes a stream without a flush if it does not end at once', async () => {
    let out!: HttpResponse;
    const fetch = toFetch((_request, response) => void (out = response.writeHead(200)).write('one'));
    const response = await fetch(new Request(url));
    out.end(' two');
    expect(await response.text()).toBe('one two');
  });

  it('counts unread bytes', async () => {
    const { response, out } = await begun();
    for (let sent = 0; sent < 20; sent++) out.write(Buffer.alloc(100_000));
    await turn();
    expect(out.writableLength).toBeGreaterThan(1_500_000);
    const read = response.arrayBuffer();
    out.end();
    expect((await read).byteLength).toBe(2_000_000);
    expect(out.writableLength).toBe(0);
  });

  it('that is destroyed fails for its reader', async () => {
    const { response, out } = await begun();
    out.destroy();
    await expect(response.text()).rejects.toThrow('The connection was closed');
  });

  it('is closed when its reader cancels, and when the request is aborted', async () => {
    const { response, out } = await begun();
    const closed = new Promise((resolve) => out.once('close', resolve));
    await response.body!.cancel();
    await closed;
    expect(out.destroyed).toBe(true);

    const gone = new AbortController();
    const { out: other, response: read } = await begun(new Request(url, { signal: gone.signal }));
    const otherClosed = new Promise((resolve) => other.once('close', resolve));
    gone.abort();
    await otherClosed;
    expect(await read.text()).toBe(''); // its server reads to the end, and has nothing to complain of
  });

  it('resolves even for a request that was aborted before its answer', async () => {
    const gone = new AbortController();
    const pending = toFetch(() => {})(new Request(url, { signal: gone.signal }));
    gone.abort();
    expect((await pending).status).toBe(499);
    expect((await toFetch(() => {})(new Request(url, { signal: AbortSignal.abort() }))).status).toBe(499);
  });

  it('ignores writes after its end', async () => {
    const { response, out } = await begun();
    out.end('last');
    out.write('too late');
    expect(await response.text()).toBe('last');
  });
});
