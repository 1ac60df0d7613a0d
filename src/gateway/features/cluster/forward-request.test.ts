// Real sockets: what a client sends reaches the node as one request, and what happens on the way ends nothing but this request.
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ForwardOutcome } from '../../../kernel/nodes/nodes.ts';
import { Forwarder } from './forward-request.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

type Front = (request: IncomingMessage, response: ServerResponse, forward: () => Promise<ForwardOutcome>) => void;

/** A gateway that passes everything on to a node, and what became of it. */
async function between(node: RequestListener | Server, front: Front = (_, __, forward) => void forward()) {
  const served = typeof node === 'function' ? createServer(node) : node;
  const url = `http://127.0.0.1:${await listen(served)}`;
  const forwarder = new Forwarder();
  closing.push(() => forwarder.close());
  const outcomes: unknown[] = [];
  const gateway = createServer((request, response) => {
    front(request, response, async () => {
      const to = { node: 'b', url, isDraining: false };
      try {
        const outcome = await forwarder.forward(to, 'grant', { request, response });
        outcomes.push(outcome.kind);
        return outcome;
      } catch (thrown) {
        outcomes.push((thrown as { code: string }).code);
        response.writeHead(400).end();
        throw thrown;
      }
    }) as unknown;
  });
  const port = await listen(gateway);
  const open = (head: string): Socket => {
    const client = connect(port, '127.0.0.1').on('error', () => {});
    closing.push(() => client.destroy());
    client.write(head);
    return client;
  };
  const until = (length: number) => vi.waitFor(() => expect(outcomes).toHaveLength(length), 10_000);
  return { url: `http://127.0.0.1:${port}`, port, open, outcomes, until };
}

const taken = (response: ServerResponse): ServerResponse => response.setHeader('parley-hop', 'taken');
const quietly: Front = (_, __, forward) => void forward().catch(() => {});

describe('the target of a forwarded request', () => {
  it.each(['//HOST/x?t=a.b', 'http://HOST/x', '/\\HOST/x'])('never leads to another host: %s', async (target) => {
    const reached: string[] = [];
    const other = await listen(createServer((request, response) => (reached.push(request.url!), response.end())));
    const { open, outcomes, until } = await between((request, response) => {
      reached.push(request.url!);
      taken(response).end();
    }, quietly);
    open(`GET ${target.replace('HOST', `127.0.0.1:${other}`)} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(1);
    expect(outcomes).toEqual(['INVALID_REQUEST']);
    expect(reached).toEqual([]);
  });

  it('reaches the node as it was written', async () => {
    const { open } = await between((request, response) => void taken(response).end(`at ${request.url}`));
    const client = open('GET /a/../b//c?x=%2F&y=http://z HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(client)).toContain('at /a/../b//c?x=%2F&y=http://z');
  });
});

describe('the body of a forwarded request', () => {
  it.each(['GET', 'DELETE', 'OPTIONS'])('that is announced by a %s takes nothing of the next one', async (method) => {
    const seen: string[] = [];
    const { open, url, until } = await between((request, response) => {
      seen.push(`${request.method} ${request.headers['content-length']}`);
      taken(response).end('done');
    });
    open(`${method} /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n`);
    await until(1);
    const next = await fetch(`${url}/y`, { signal: AbortSignal.timeout(10_000) });
    expect(await next.text()).toBe('done');
    expect(seen).toEqual([`${method} undefined`, 'GET undefined']);
  });

  it('arrives whole if it is piped, and an empty one is empty', async () => {
    const { url } = await between((request, response) => {
      void text(request).then((body) => taken(response).end(`${body.length} ${request.headers['content-length']}`));
    });
    const post = async (body: string) => (await fetch(url, { method: 'POST', body })).text();
    expect(await post('x'.repeat(300_000))).toBe('300000 undefined');
    expect(await post('')).toBe('0 0');
  });
});

describe('an answer of another node', () => {
  it('with a status that HTTP does not have breaks this request alone', async () => {
    const odd = createTcpServer((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 000 x\r\nparley-hop: 1\r\ncontent-length: 0\r\n\r\n'));
    });
    const { open, outcomes, until } = await between(odd);
    open('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(1);
    expect(outcomes).toEqual(['broken']);
  });

  it('that is an upgrade breaks this request alone', async () => {
    const odd = createTcpServer((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'));
    });
    const { open, outcomes, until } = await between(odd);
    open('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(1);
    expect(outcomes).toEqual(['broken']);
  });
});

describe('a response that somebody else has ended', () => {
  /** Node answers once the response in front was ended. */
  const cases = ['alone', 'pipelined'].flatMap((how) => ['not begun', 'a stream'].map((answer) => [how, answer]));
  it.each(cases)('ends the forward: %s, %s', async (how, answer) => {
    const open = new Set<ServerResponse>();
    let answerNow = (): void => {};
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => void (begin = resolve));
    const {
      open: send,
      outcomes,
      until,
    } = await between(
      (_, response) => {
        open.add(response.on('close', () => open.delete(response)));
        taken(response);
        if (answer === 'a stream')
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
        answerNow = () => (answer === 'a stream' ? response.write('data: 2\n\n') : response.writeHead(204).end());
        begin();
      },
      (request, response, forward) => {
        if (request.url === '/first') return void response.writeHead(200).write('x');
        void forward();
        void begun.then(() => {
          setImmediate(() => {
            response.end();
            answerNow();
          });
        });
      },
    );
    const first = how === 'pipelined' ? 'GET /first HTTP/1.1\r\nHost: x\r\n\r\n' : '';
    send(`${first}GET /x HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(1);
    expect(outcomes).toEqual(['answered']);
    await vi.waitFor(() => expect(open.size).toBe(0), 10_000);
  });

  it('whose client leaves while it waits behind another one ends the forward', async () => {
    const open = new Set<ServerResponse>();
    const { open: send, until } = await between(
      (_, response) => void open.add(response.on('close', () => open.delete(response))),
      (request, response, forward) => {
        if (request.url === '/first') response.writeHead(200).write('x');
        else void forward();
      },
    );
    const client = send('GET /first HTTP/1.1\r\nHost: x\r\n\r\nGET /x HTTP/1.1\r\nHost: x\r\n\r\n');
    await vi.waitFor(() => expect(open.size).toBe(1), 10_000);
    client.destroy();
    await until(1);
    await vi.waitFor(() => expect(open.size).toBe(0), 10_000);
  });

  it('is passed on to nobody if its client has left before', async () => {
    const asked: string[] = [];
    const { open, outcomes, until } = await between(
      (request, response) => (asked.push(request.url!), taken(response).writeHead(200).write('x')),
      (_, response, forward) => {
        response.on('close', () => void forward());
        response.writeHead(200).write('x');
      },
    );
    const client = open('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
    client.on('data', () => client.destroy());
    await until(1);
    expect(outcomes).toEqual(['answered']);
    expect(asked).toEqual([]);
  });
});
