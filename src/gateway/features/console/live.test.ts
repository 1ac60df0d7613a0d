// The streams of browsers that look, over real connections: one that ends early, or before it began, ends nothing else and is not counted.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import { FakeClock } from '../../../kernel/fake-exchange.contract.ts';
import { LiveStreams } from './live.ts';

const FRAME_MS = 100;
const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

function start() {
  const clock = new FakeClock();
  const live = new LiveStreams({ clock, log: createLog({ level: 'silent' }), onWatched: () => {} });
  let count = 0;
  const make = async () => ({ now: { text: String(++count) } });
  return { clock, live, make };
}

/** A server whose first response stays open, and a client that sends two requests at once: the second response has no connection yet. */
async function pipelined(): Promise<{ requests: IncomingMessage[]; responses: ServerResponse[]; client: Socket }> {
  const requests: IncomingMessage[] = [];
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    if (responses.push(response) === 1) response.writeHead(200).write('x');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
  closing.push(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  await vi.waitFor(() => expect(responses).toHaveLength(2), 10_000);
  return { requests, responses, client };
}

describe('a stream of the console', () => {
  it('that somebody else has ended while its connection was busy gets no frame, and is left', async () => {
    const { live, clock, make } = start();
    const [, response] = (await pipelined()).responses;
    const write = vi.spyOn(response!, 'write');
    live.open(response!, make);
    await vi.waitFor(() => expect(write).toHaveBeenCalledOnce());
    response!.end();
    expect(response).toMatchObject({ writableEnded: true, destroyed: false });
    live.touch();
    await clock.advance(FRAME_MS);
    expect(write).toHaveBeenCalledOnce();
    expect(live.areAny).toBe(false);
  });

  it('that ends while its frame is made gets no frame', async () => {
    const { live, make } = start();
    const [, response] = (await pipelined()).responses;
    const write = vi.spyOn(response!, 'write');
    let give = (): void => {};
    const isMade = new Promise<void>((resolve) => (give = resolve));
    const made = vi.fn(() => isMade.then(make));
    live.open(response!, made);
    response!.end();
    give();
    await made.mock.results[0]!.value;
    await new Promise(setImmediate);
    expect(write).not.toHaveBeenCalled();
  });

  it('gets no frame after all are closed', async () => {
    const { live, clock, make } = start();
    const [, response] = (await pipelined()).responses;
    const made = vi.fn(make);
    const write = vi.spyOn(response!, 'write');
    live.open(response!, made);
    await vi.waitFor(() => expect(write).toHaveBeenCalledOnce());
    live.close();
    live.touch();
    await clock.advance(FRAME_MS);
    expect(made).toHaveBeenCalledOnce();
  });

  it('whose connection fails is left, and ends no process', async () => {
    const { live, make } = start();
    const [, response] = (await pipelined()).responses;
    live.open(response!, make);
    response!.emit('error', new Error('write after end'));
    expect(live.areAny).toBe(false);
  });

  it('is left when the browser hangs up while the connection is busy with another response', async () => {
    const { live, make } = start();
    const { requests, responses, client } = await pipelined();
    const before = requests[1]!.socket.listenerCount('close');
    live.open(responses[1]!, make, requests[1]);
    expect(live.areAny).toBe(true);
    client.destroy();
    await vi.waitFor(() => expect(live.areAny).toBe(false), 10_000);
    expect(requests[1]!.socket.listenerCount('close')).toBe(before);
  });

  it('of a browser that hung up before it was let in does not begin, and takes no place', async () => {
    const { live, make } = start();
    const { requests, responses, client } = await pipelined();
    client.destroy();
    await vi.waitFor(() => expect(responses[0]!.destroyed).toBe(true), 10_000);
    live.open(responses[0]!, make);
    live.open(responses[1]!, make, requests[1]);
    expect(live.areAny).toBe(false);
  });
});
