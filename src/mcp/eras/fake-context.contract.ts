// Test helpers: a serve context whose target is written in the test, outlets that record, and a manual clock. The build
// leaves `*.contract.ts` out.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Exchange } from '../../kernel/exchange.ts';
import type { JsonObject, Message, RequestMessage } from '../../kernel/message.ts';
import type { Change, Target } from '../../kernel/target.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { createServeContext } from './serve/serve-context.ts';
import type { ServeContext, ServeContextOptions } from './serve/serve-context.ts';
import { META } from './meta.ts';
import type { Outlet } from './serve/served-exchange.ts';
import { Conversation } from './serve/conversation.ts';

/** What fake clocks have in common: a time, and what waits for a later one. */
export class FakeTimers implements Clock {
  #now: number;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Moves the time, then runs everything that waited for it. */
  protected run(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers].filter(({ at }) => at <= this.#now).toSorted((a, b) => a.at - b.at);
    for (const timer of due) if (this.#timers.delete(timer)) timer.callback();
  }
}

export class FakeClock extends FakeTimers {
  advance(ms: number): void {
    this.run(ms);
  }
}

export class RecordingOutlet implements Outlet {
  readonly sent: Message[] = [];
  /** One entry per call of `end`; there must be exactly one. */
  readonly ends: (Message | Message[] | undefined)[] = [];
  status: number | undefined;
  readonly released: number[] = [];
  #onEnd: (() => void)[] = [];

  send(message: Message): void {
    this.sent.push(message);
  }

  end(answer?: Message | Message[], status?: number): void {
    this.ends.push(answer);
    this.status = status;
    for (const resolve of this.#onEnd.splice(0)) resolve();
  }

  release(retryMs: number): void {
    this.released.push(retryMs);
  }

  /** Resolves with the answer. */
  async answer(): Promise<RecordedAnswer> {
    if (this.ends.length === 0) await new Promise<void>((resolve) => this.#onEnd.push(resolve));
    return this.ends[0] as RecordedAnswer;
  }
}

export interface RecordedAnswer {
  id: string | number | null;
  result?: JsonObject & { _meta?: JsonObject; content?: JsonObject[] };
  error?: { code: number; message: string; data?: unknown };
}

type Handle = (exchange: Exchange) => JsonObject | Promise<JsonObject>;

export class FakeTarget implements Target {
  readonly info: Implementation = {
    name: 'fake',
    version: '1',
    title: 'Fake',
    description: 'A fake',
    websiteUrl: 'x:',
  };
  readonly seen: Exchange[] = [];
  offered: ServerCapabilities = { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} };
  schema: JsonObject | undefined;
  readonly #handle: Handle;
  readonly #listeners = new Set<(change: Change) => void>();

  constructor(handle: Handle = () => ({ content: [] })) {
    this.#handle = handle;
  }

  get watchers(): number {
    return this.#listeners.size;
  }

  capabilities(): ServerCapabilities {
    return this.offered;
  }

  handle(exchange: Exchange): JsonObject | Promise<JsonObject> {
    this.seen.push(exchange);
    return this.#handle(exchange);
  }

  watch(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  inputSchema(): JsonObject | undefined {
    return this.schema;
  }

  tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}

export function fakeContext(
  target: Target = new FakeTarget(),
  options: ServeContextOptions = {},
): ServeContext & { lines: string[] } {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', write: (line) => void lines.push(line) });
  return Object.assign(createServeContext(target, { log, clock: new FakeClock(), ...options }), { lines });
}

export function request(id: string | number, method: string, params?: JsonObject): RequestMessage {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

/** A request of the stateless era. */
export function enveloped(
  id: string | number,
  method: string,
  params: JsonObject = {},
  meta: JsonObject = {},
): RequestMessage {
  const envelope = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: {}, ...meta };
  return request(id, method, { ...params, _meta: envelope });
}

/** Resolves when all pending work is done. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A conversation with one client whose messages the test sends. */
export function converse(handle?: Handle, options?: ServeContextOptions) {
  const target = new FakeTarget(handle);
  const context = fakeContext(target, options);
  const back: Message[] = [];
  const exits: number[] = [];
  const conversation = new Conversation(
    context,
    'me',
    { send: (message) => void back.push(message) },
    {
      onExit: (status) => void exits.push(status),
    },
  );
  const put = (message: unknown): RecordingOutlet => {
    const outlet = new RecordingOutlet();
    conversation.receive(message as Message, outlet);
    return outlet;
  };
  const call = (id: string | number, method: string, params?: JsonObject) => put(request(id, method, params));
  const tell = (method: string, params?: JsonObject) => put({ jsonrpc: '2.0', method, ...(params && { params }) });
  const open = (params: JsonObject = { protocolVersion: '2025-11-25' }) => {
    const outlet = call('init', 'initialize', params);
    tell('notifications/initialized');
    return outlet.ends[0] as RecordedAnswer;
  };
  return { target, context, back, exits, conversation, put, call, tell, open };
}

export const answerOf = (outlet: RecordingOutlet): RecordedAnswer => outlet.ends[0] as RecordedAnswer;
