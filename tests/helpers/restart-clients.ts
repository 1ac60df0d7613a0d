// Raw clients that listen and call while gateways are restarted. They come back as the protocol says, and keep whatever went wrong.
import { setTimeout as pause } from 'node:timers/promises';
import { openStream } from './http-wire.ts';
import type { Stream } from './http-wire.ts';
import { callModern, modern, openSession } from './mcp-http.ts';
import type { HttpSession } from './mcp-http.ts';

export interface RestartClient {
  readonly errors: string[];
  readonly calls: { made: string[] };
  /** How often it was told that tools have changed. */
  readonly told: () => number;
  readonly reopened: () => number;
  call(id: string): Promise<void>;
  close(): void;
}

const CHANGED = 'notifications/tools/list_changed';

/** With a session and its stream, or without one and a subscription. */
export async function startListener(url: string, kind: 'session' | 'stateless'): Promise<RestartClient> {
  const session = kind === 'session' ? await openSession(url) : undefined;
  const listener = new Listener(url, session);
  await listener.open();
  return listener;
}

class Listener implements RestartClient {
  readonly errors: string[] = [];
  readonly calls = { made: [] as string[] };
  readonly #url: string;
  readonly #session: HttpSession | undefined;
  #stream: Stream | undefined;
  #earlier = 0;
  #lastId: string | undefined;
  #opened = 0;
  #isOver = false;

  constructor(url: string, session: HttpSession | undefined) {
    this.#url = url;
    this.#session = session;
  }

  told = (): number => this.#earlier + countChanges(this.#stream);
  reopened = (): number => this.#opened - 1;

  /** Opens the stream, and again whenever it has ended. */
  async open(): Promise<void> {
    const stream = await this.#begin();
    this.#stream = stream;
    this.#opened++;
    void endOf(stream).then(() => this.#comeBack(stream));
  }

  async #comeBack(stream: Stream): Promise<void> {
    if (this.#isOver) return;
    this.#earlier += countChanges(stream);
    this.#stream = undefined;
    this.#lastId = stream.events.findLast(({ id }) => id !== undefined)?.id ?? this.#lastId;
    const retry = stream.events.findLast((event) => event.retry !== undefined)?.retry;
    await pause(Number(retry ?? 0));
    if (this.#isOver) return;
    await this.open().catch((error: unknown) => void this.errors.push(`its stream: ${String(error)}`));
  }

  async #begin(): Promise<Stream> {
    const stream = this.#session
      ? await this.#session.stream(this.#lastId)
      : await openStream(this.#url, {
          method: 'POST',
          ...modern('subscriptions/listen', { notifications: { toolsListChanged: true } }),
        });
    const { statusCode } = stream.response;
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    return stream;
  }

  async call(id: string): Promise<void> {
    this.calls.made.push(id);
    const args = { id, ms: Math.floor(Math.random() * 400) };
    try {
      const reply = await (this.#session ? this.#session.call('pay', args) : callModern(this.#url, 'pay', args));
      const text = (reply.messages.at(-1) ?? reply.json).result?.content?.[0]?.text;
      if (text !== `pay ${id} none`) this.errors.push(`${id}: ${reply.status} ${reply.text}`);
    } catch (error) {
      this.errors.push(`${id}: ${String(error)}`);
    }
  }

  close(): void {
    this.#isOver = true;
    this.#stream?.close();
  }
}

async function endOf(stream: Stream): Promise<void> {
  while (!stream.ended) await stream.next();
}

function countChanges(stream: Stream | undefined): number {
  return stream?.messages.filter(({ method }) => method === CHANGED).length ?? 0;
}
