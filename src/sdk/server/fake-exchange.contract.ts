// For tests only (the build leaves `*.contract.ts` out): an exchange that records everything sent back, and a manual clock.
import { SPEAKING } from '../../mcp/eras/fake-views.contract.ts';
import type { Ask, ClientView, Exchange, LogEntry, Progress } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { toPlainObject } from '../../kernel/raw/raw-object.ts';
import type { Target } from '../../kernel/target.ts';
import { FakeClock as ManualClock } from '../../mcp/eras/fake-context.contract.ts';
import { GatewayError } from '../../kernel/base/errors.ts';

interface FakeExchangeOptions {
  params?: JsonObject;
  client?: Partial<ClientView>;
  task?: Exchange['task'];
  /** Answers questions. Without it, the client cannot be asked. */
  answer?: (ask: Ask) => JsonObject | Promise<JsonObject>;
}

export class FakeExchange implements Exchange {
  readonly id = 'exchange-1';
  readonly method: string;
  readonly params: JsonObject;
  readonly client: ClientView;
  readonly task: Exchange['task'];
  readonly trace = { traceparent: '00-trace' };
  readonly controller = new AbortController();
  readonly progressed: Progress[] = [];
  readonly logged: LogEntry[] = [];
  readonly notified: [string, JsonObject | undefined][] = [];
  readonly asked: Ask[] = [];
  readonly released: number[] = [];
  readonly #answer: FakeExchangeOptions['answer'];
  signalReads = 0;

  constructor(method: string, given: FakeExchangeOptions = {}) {
    this.method = method;
    this.params = given.params ?? {};
    this.client = fakeClient(given.client);
    this.task = given.task;
    this.#answer = given.answer;
  }

  get signal(): AbortSignal {
    this.signalReads += 1;
    return this.controller.signal;
  }

  notify(method: string, params?: JsonObject): void {
    this.notified.push([method, params]);
  }

  progress(progress: Progress): void {
    this.progressed.push(progress);
  }

  log(entry: LogEntry): void {
    this.logged.push(entry);
  }

  canAsk(ask: Ask): boolean {
    return this.#answer !== undefined && ask.params?.['mode'] !== 'url';
  }

  async ask(ask: Ask): Promise<JsonObject> {
    this.asked.push(ask);
    if (this.#answer === undefined) throw new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method });
    return this.#answer(ask);
  }

  releaseStream(retryMs: number): void {
    this.released.push(retryMs);
  }
}

export function fakeClient(client: Partial<ClientView> = {}): ClientView {
  return {
    ...SPEAKING.handshake,
    revision: 'r2',
    info: { name: 'tester', version: '1' },
    capabilities: {},
    principal: 'alice',
    ...client,
  };
}

export class FakeClock extends ManualClock {
  constructor() {
    super(Date.UTC(2030, 0, 1));
  }
}

/** Resolves with the answer, whether the target returns it, throws, or returns a promise. */
export async function answerOf(target: Target, exchange: Exchange): Promise<JsonObject> {
  return toPlainObject(await target.handle(exchange));
}
