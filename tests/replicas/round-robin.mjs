// One address for several gateways: each request goes to the next of them, and each WebSocket is opened at the next of them. As load balancers do, it
// tries another one if a connection is refused, and never after that; and if it is told to, it sends nothing to those that are not ready.
import { once } from 'node:events';
import { createServer, request as startRequest } from 'node:http';
import { connect } from 'node:net';

export class RoundRobin {
  #targets;
  #ready;
  #next = 0;
  #server = createServer((request, response) => this.#pass(request, response));
  #sockets = new Set();
  #away = new Set();
  #watching;

  /** `targets`: the URLs of the gateways at the moment; `ready`: what requests wait for. */
  constructor(targets, ready = Promise.resolve()) {
    this.#targets = targets;
    this.#ready = ready;
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => {});
      void this.#ready.then(() => this.#tunnel(request, socket, head));
    });
  }

  /** Resolves with its origin. */
  async listen(port = 0) {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** The next request goes to this one. */
  turnTo(at) {
    this.#next = at;
  }

  /** Asks each of them now and then whether it is ready. */
  watch(everyMs = 200) {
    this.#watching = setInterval(() => this.#targets().forEach((target) => this.#look(target)), everyMs);
  }

  async #look(target) {
    const isReady = await fetch(new URL('/readyz', target)).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) this.#away.delete(target);
    else this.#away.add(target);
  }

  close() {
    clearInterval(this.#watching);
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #target() {
    const all = this.#targets();
    const ready = all.filter((target) => !this.#away.has(target));
    const targets = ready.length > 0 ? ready : all;
    return targets[this.#next++ % targets.length];
  }

  #pass(request, response) {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      await this.#ready;
      this.#send(request, response, { body: Buffer.concat(chunks), tries: this.#targets().length });
    });
    request.on('error', () => {});
  }

  #send(request, response, { body, tries }) {
    const { method, headers } = request;
    const sent = startRequest(new URL(request.url, this.#target()), { method, headers, agent: false });
    sent.on('response', (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    sent.on('error', (error) => {
      if (error.code === 'ECONNREFUSED' && tries > 1) this.#send(request, response, { body, tries: tries - 1 });
      else response.destroy();
    });
    response.on('close', () => sent.destroy());
    sent.end(body);
  }

  #tunnel({ method, url, httpVersion, rawHeaders }, socket, head) {
    const { hostname, port } = new URL(this.#target());
    const other = connect(Number(port), hostname);
    const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
    other.write(`${method} ${url} HTTP/${httpVersion}\r\n${lines.join('\r\n')}\r\n\r\n`);
    other.write(head);
    other.pipe(socket).pipe(other);
    for (const [one, peer] of [
      [socket, other],
      [other, socket],
    ]) {
      this.#sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        this.#sockets.delete(one);
        peer.destroy();
      });
    }
  }
}
