import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { FakeTarget, fakeContext, request } from '../eras/fake-context.contract.ts';
import type { ServeContextOptions } from '../eras/serve/serve-context.ts';
import { acceptStdio } from './stdio.ts';

type Handle = (exchange: Exchange) => JsonObject | Promise<JsonObject>;

function start(handle?: Handle, options?: ServeContextOptions, output: Writable = new PassThrough()) {
  const input = new PassThrough();
  const target = new FakeTarget(handle);
  const context = fakeContext(target, options);
  const listening = acceptStdio(context, { input, output });
  const put = (message: unknown) => void input.write(`${JSON.stringify(message)}\n`);
  const read = async (count: number): Promise<JsonObject[]> => {
    let text = '';
    while (text.split('\n').length <= count) {
      const chunk = (output as PassThrough).read() as Buffer | null;
      if (chunk) text += chunk.toString();
      else await new Promise((resolve) => output.once('readable', resolve));
    }
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
  };
  return { input, output, target, context, put, read, ...listening };
}

const initialize = request(0, 'initialize', { protocolVersion: '2025-11-25' });

describe('a server on stdin and stdout', () => {
  it('answers all requests before the end of input, then exits with 0', async () => {
    let finish!: (result: JsonObject) => void;
    const { put, input, read, closed } = start(() => new Promise((resolve) => (finish = resolve)));
    put(initialize);
    put(request(1, 'tools/call'));
    await read(1);
    input.end(JSON.stringify(request(2, 'ping'))); // a last line without its end
    expect(await read(1)).toMatchObject([{ id: 2, result: {} }]);
    finish({ content: [] });
    expect(await read(1)).toMatchObject([{ id: 1, result: { content: [] } }]);
    expect(await closed).toBe(0);
  });

  it('refuses a line that is too long and serves the next', async () => {
    const { put, input, read } = start(undefined, { limits: { maxRequestBytes: 100 } });
    input.write(`{"x":"${'y'.repeat(500)}"}\n`);
    put(request(1, 'ping'));
    expect(await read(2)).toMatchObject([
      { id: null, error: { code: -32600 } },
      { id: 1, result: {} },
    ]);
  });

  it('names the request whose line is too long, wherever its id stands', async () => {
    const { input, read } = start(undefined, { limits: { maxRequestBytes: 100 } });
    const x = 'y'.repeat(5000);
    input.write(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"${x}"}}\n`);
    input.write(`{"method":"tools/call","params":{"id":1,"x":"${x}","y":{"id":2}},"jsonrpc":"2.0","id":"a b"}\r\n`);
    input.write(`{"method":"tools/call","params":{"id":1,"x":"${x}"},"id":8,"jsonrpc":"2.0"}\n`);
    expect(await read(3)).toMatchObject([
      { id: 7, error: { code: -32600 } },
      { id: 'a b', error: { code: -32600 } },
      { id: 8, error: { code: -32600 } },
    ]);
  });

  it('pauses reading while the client does not read', async () => {
    const output = new PassThrough({ highWaterMark: 10 });
    const { put, input, read } = start(undefined, undefined, output);
    put(request(1, 'ping'));
    await new Promise((resolve) => output.once('readable', resolve));
    expect(input.isPaused()).toBe(true);
    await read(1);
    put(request(2, 'ping'));
    expect(await read(1)).toMatchObject([{ id: 2 }]);
  });

  it('disconnects a client that lets too much pile up', async () => {
    const stuck = new Writable({ highWaterMark: 1, write: () => {} });
    const flood: Handle = (exchange) => {
      for (let n = 0; n < 1000; n++) exchange.progress({ progress: n, message: 'x'.repeat(100) });
      return { content: [] };
    };
    const { input, closed, context } = start(flood, { limits: { maxBufferedBytes: 10_000 } }, stuck);
    const call = request(1, 'tools/call', { _meta: { progressToken: 1 } });
    input.write(`${JSON.stringify(initialize)}\n${JSON.stringify(call)}\n`);
    expect(await closed).toBe(1);
    expect(stuck.destroyed).toBe(true);
    expect(stuck.writableLength).toBeLessThan(20_000);
    expect(context.lines.join()).toContain('client.too-slow');
  });

  it('cancels the requests of a client that is gone', async () => {
    const { put, output, closed, target } = start(() => new Promise(() => {}));
    put(initialize);
    put(request(1, 'tools/call'));
    await new Promise((resolve) => output.once('readable', resolve));
    while (target.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    output.destroy(new Error('EPIPE'));
    expect(await closed).toBe(0);
    expect(target.seen[0]!.signal.aborted).toBe(true);
  });

  it('reports a result that JSON cannot express as an internal error', async () => {
    const { put, read } = start(async () => ({ content: [], big: 1n }));
    put(initialize);
    put(request(1, 'tools/call'));
    put(request(2, 'ping'));
    const answers = await read(3);
    expect(answers.find(({ id }) => id === 1)).toMatchObject({ error: { code: -32603, message: 'Internal error' } });
    expect(answers.find(({ id }) => id === 2)).toMatchObject({ result: {} });
  });

  it('ends once when closed', async () => {
    const server = start();
    server.close();
    server.close();
    expect(await server.closed).toBe(0);
    expect(server.input.destroyed).toBe(true);
  });
});
