// A gateway process in front of deeds.mjs, and connections on which a test says every message itself.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { FakeBrowser } from '../../../src/people/page/fake-round.contract.ts';
import { ROOT } from '../files.ts';
import { openStream, send } from '../http-wire.ts';
import type { Json, Reply } from '../http-wire.ts';
import { Wire, socketWire, stdioWire } from '../line-wire.ts';
import { modern, openSession } from '../mcp-http.ts';
import { Home } from '../parley.ts';
import type { Parley } from '../parley.ts';
import { until } from '../until.ts';

/** The operator trusts the forms of Ann, and not those of Bob. */
export type Who = 'ann' | 'bob';
export const bearer = (who: Who): { authorization: string } => ({
  authorization: `Bearer parley_${who}-0123456789abcdef`,
});

/** How long `burn` waits for its approval. */
const SHORT_MS = 1000;

export class Guard implements AsyncDisposable {
  readonly home: Home = new Home();
  readonly #ledger = join(this.home.path, 'deeds.txt');
  readonly #env = { BROWSER: 'none' };
  readonly #closing: (() => unknown)[] = [];
  #settled = 0;
  readonly #browsers = new Map<Who, Promise<FakeBrowser>>();
  parley!: Parley;
  file!: string;
  url!: string;
  stdio!: Wire;

  static async start(): Promise<Guard> {
    const guard = new Guard();
    const { home } = guard;
    const args = [join(ROOT, 'tests', 'fixtures', 'servers', 'deeds.mjs'), guard.#ledger];
    const keys = (['ann', 'bob'] as const).map((name) => ({ name, key: bearer(name).authorization.slice(7) }));
    guard.file = home.write('parley.config.json', {
      mcpServers: { deeds: { command: process.execPath, args, tools: { approve: ['wipe'] } } },
      steps: [{ approve: { when: ['burn'], timeoutMs: SHORT_MS } }],
      auth: { keys },
      ask: { trust: ['stdio', 'key:ann'] },
    });
    guard.parley = home.start(['serve', guard.file, '--stdio', '--port', '0'], guard.#env);
    guard.stdio = stdioWire(guard.parley.child);
    guard.url = (await guard.parley.says(/http:\/\/[^\s"]+\/mcp/))[0];
    return guard;
  }

  /** How often this was done. */
  deeds(mark: string): number {
    const lines = existsSync(this.#ledger) ? readFileSync(this.#ledger, 'utf8').split('\n') : [];
    return lines.filter((line) => line.split(' ')[1] === mark).length;
  }

  /** Does `work`, and waits for the link that the person is shown because of it. */
  async link<T>(work: () => Promise<T>): Promise<[string, T]> {
    const before = this.#links().length;
    const done = await work();
    return [await until('the link for the person', () => this.#links()[before]), done];
  }

  #links(): string[] {
    return this.parley.logged('ask.person').map(({ link }) => String(link));
  }

  /** The browser that the operator has paired for this user. */
  browser(who: Who): Promise<FakeBrowser> {
    if (!this.#browsers.has(who)) this.#browsers.set(who, this.#pair(who));
    return this.#browsers.get(who)!;
  }

  async #pair(who: Who): Promise<FakeBrowser> {
    const { stdout } = await this.home.run(
      ['pair', '--config', this.file, '--user', `key:${who}`, '--json'],
      '',
      this.#env,
    );
    const { code } = JSON.parse(stdout) as { code: string };
    const browser = new FakeBrowser();
    await browser.post(this.url.replace(/\/mcp$/, '/ask'), { do: 'pair', code });
    return browser;
  }

  /** One stateless request. */
  ask(who: Who, method: string, params: Json, capabilities: Json = {}): Promise<Reply> {
    const { body, headers } = modern(method, params, { 'io.modelcontextprotocol/clientCapabilities': capabilities });
    return send(this.url, { body, headers: { ...headers, ...bearer(who) } });
  }

  /** A session over Streamable HTTP, as messages on a line: what asks nothing has arrived before the next message is sent. */
  async http(who: Who, capabilities: Json): Promise<Wire> {
    const session = await openSession(this.url, { capabilities, headers: bearer(who) });
    const { url, headers } = session;
    this.#closing.push(() => session.delete());
    let arrived: Promise<unknown> = Promise.resolve();
    const wire = new Wire((text) => {
      const body = JSON.parse(text) as Json;
      const sent = arrived.then(() => this.#post(wire, url, { headers, body }));
      if (body['method'] === undefined || body['id'] === undefined) arrived = sent;
    });
    wire.steal = (by, body) => send(url, { headers: { ...headers, ...bearer(by) }, body });
    return wire;
  }

  async #post(wire: Wire, url: string, sent: { headers: Record<string, string>; body: Json }): Promise<void> {
    const stream = await openStream(url, { method: 'POST', ...sent });
    const type = String(stream.response.headers['content-type']);
    if (type.startsWith('application/json')) {
      let whole = '';
      stream.response.on('data', (chunk: string) => (whole += chunk));
      await stream.untilEnd();
      if (whole) wire.take(whole);
      return;
    }
    this.#closing.push(() => stream.close());
    for (let told = 0; ;) {
      await stream.until('a message', ({ messages, ended }) => ended || messages.length > told);
      for (; told < stream.messages.length; told++) wire.take(JSON.stringify(stream.messages[told]));
      if (stream.ended) return;
    }
  }

  /** HTTP+SSE: answers come on the stream, and messages go to the address that it has named. */
  async sse(who: Who, capabilities: Json): Promise<Wire> {
    const stream = await openStream(this.url.replace(/\/mcp$/, '/sse'), { headers: bearer(who) });
    this.#closing.push(() => stream.close());
    await stream.until('the endpoint', ({ events }) => events.length > 0);
    const url = new URL(String(stream.events[0]!.data), this.url).href;
    let arrived: Promise<unknown> = Promise.resolve();
    const wire = new Wire(
      (text) => void (arrived = arrived.then(() => send(url, { headers: bearer(who), body: text }))),
    );
    wire.steal = (by, body) => send(url, { headers: bearer(by), body });
    let told = 0;
    const pass = async (): Promise<void> => {
      for (;;) {
        for (; told < stream.messages.length; told++) wire.take(JSON.stringify(stream.messages[told]));
        if (stream.ended) return wire.close();
        await stream.next();
      }
    };
    void pass();
    await wire.initialize('2025-11-25', capabilities);
    return wire;
  }

  async webSocket(who: Who, capabilities: Json): Promise<Wire> {
    const { wire, socket } = await socketWire(Number(new URL(this.url).port), bearer(who));
    this.#closing.push(() => socket.terminate());
    await wire.initialize('2025-11-25', capabilities);
    return wire;
  }

  /** A program that has found the control socket. */
  async control(opening: string, capabilities: Json): Promise<Wire> {
    const folder = this.#state;
    const socket = createConnection(
      join(
        folder,
        readdirSync(folder).find((name) => name.endsWith('.sock'))!,
      ),
    );
    this.#closing.push(() => socket.destroy());
    const wire = new Wire((text) => void socket.write(`${text}\n`));
    createInterface({ input: socket }).on('line', (line) => wire.take(line));
    socket.on('close', () => wire.close()).on('error', () => wire.close());
    socket.write(`${opening}\n`);
    await wire.initialize('2025-11-25', capabilities);
    return wire;
  }

  /** What Parley's own commands say on the control socket. */
  get ownOpening(): string {
    return `own ${readFileSync(join(this.#state, 'token'), 'utf8').trim()}`;
  }

  get #state(): string {
    return join(this.home.path, 'state', 'parley');
  }

  /** Something more to end with the test. */
  closing(close: () => unknown): void {
    this.#closing.push(close);
  }

  /** Ends what a test has left open: each open question of `ship` keeps a process of its server. */
  async settle(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close();
    for (const { link, user } of this.parley.logged('ask.person').slice(this.#settled)) {
      this.#settled++;
      const who = /^key:(ann|bob)$/.exec(String(user))?.[1] as Who | undefined;
      if (who) await (await this.browser(who)).fill(String(link), { 'q0.0': 'false' });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing) await close();
    await this.parley[Symbol.asyncDispose]();
    this.home[Symbol.dispose]();
  }
}

/** The one of this test file. */
export let guard: Guard;

export async function startGuard(capabilities: Json): Promise<void> {
  guard = await Guard.start();
  for (const who of ['ann', 'bob'] as const) await guard.browser(who);
  await guard.stdio.initialize('2025-11-25', capabilities);
  await guard.home.run(['call', 'wipe', '--yes']); // makes the token of Parley's own commands, and is refused
}
