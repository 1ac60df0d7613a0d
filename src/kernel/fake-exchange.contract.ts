// For tests only (the build leaves `*.contract.ts` out): an exchange that records what is sent back, a manual clock, and a chain
// of steps before a function.
import { SPEAKING } from '../mcp/eras/fake-views.contract.ts';
import type { Handle } from './target.ts';
import type { Ask, ClientView, Exchange, LogEntry, Progress } from './exchange.ts';
import type { JsonObject } from './message.ts';
import { toPlainObject } from './raw/raw-object.ts';
import type { Step, StepFunction } from './step.ts';
import { FakeTimers } from '../mcp/eras/fake-context.contract.ts';
import { createChain } from '../gateway/chain/chain.ts';

export class FakeExchange implements Exchange {
  readonly id: string = 'exchange-1';
  readonly method: string;
  readonly client: ClientView;
  readonly controller = new AbortController();
  /** Everything sent back, in order. */
  readonly sent: unknown[] = [];
  params: JsonObject;
  server?: string | undefined;
  signalReads = 0;

  constructor(method: string, params: JsonObject = {}, client: Partial<ClientView> = {}) {
    this.method = method;
    this.params = params;
    const info = { name: 'tester', version: '1' };
    this.client = { ...SPEAKING.handshake, revision: 'r1', info, capabilities: {}, principal: 'alice', ...client };
  }

  get signal(): AbortSignal {
    this.signalReads++;
    return this.controller.signal;
  }

  notify(method: string, params?: JsonObject): void {
    this.sent.push({ method, params });
  }

  progress(progress: Progress): void {
    this.sent.push(progress);
  }

  log(entry: LogEntry): void {
    this.sent.push(entry);
  }

  canAsk(): boolean {
    return true;
  }

  async ask(ask: Ask): Promise<JsonObject> {
    this.sent.push(ask);
    return { answered: ask.method };
  }

  releaseStream(): void {}
}

export class FakeClock extends FakeTimers {
  constructor() {
    super(1_000_000);
  }

  /** Moves the time, runs everything that waited for it, and lets it settle. */
  async advance(ms: number): Promise<void> {
    this.run(ms);
    await settled();
  }
}

/** Lets pending promises settle. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The steps before `last`, called with a method and params, or with an exchange. */
export function chainOf(steps: (Step | StepFunction)[], last: Handle): Call {
  const named = steps.map((step) => (typeof step === 'function' ? { name: step.name, handle: step } : step));
  const chain = createChain(named, last);
  return async (exchange, params) =>
    toPlainObject(await chain(typeof exchange === 'string' ? new FakeExchange(exchange, params) : exchange));
}

export type Call = (exchange: string | Exchange, params?: JsonObject) => Promise<JsonObject>;

/** A server with these tools and prompts that answers with the called name. Pages hold two entries. */
export function serverOf(lists: { tools?: JsonObject[]; prompts?: JsonObject[] }): Handle & { seen: string[] } {
  const seen: string[] = [];
  const last: Handle = ({ method, params }) => {
    seen.push(method);
    const area = method === 'tools/list' ? 'tools' : 'prompts';
    if (method === 'tools/list' || method === 'prompts/list') return page(area, lists[area] ?? [], params);
    return { method, params };
  };
  return Object.assign(last, { seen });
}

function page(area: string, entries: JsonObject[], { cursor = '0' }: JsonObject): JsonObject {
  const start = Number(cursor);
  const nextCursor = start + 2 < entries.length ? { nextCursor: String(start + 2) } : {};
  return { [area]: entries.slice(start, start + 2), ...nextCursor };
}
