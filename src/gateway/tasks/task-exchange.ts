// The exchange of a call that runs as a task. The request that made it is answered already: nothing can be sent on it,
// so progress, logs and notifications are dropped, and a question waits in the task until somebody answers it there.
import type { Ask, ClientView, Exchange, TraceContext } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Task } from './task.ts';

/** What a client declares to be asked this. */
const NEEDS: Record<string, string> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

export class TaskExchange implements Exchange {
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly client: ClientView;
  readonly trace: TraceContext | undefined;
  readonly #origin: Exchange;
  readonly #task: Task;

  constructor(origin: Exchange, task: Task) {
    this.id = origin.id;
    this.method = origin.method;
    this.params = origin.params;
    this.client = origin.client;
    this.trace = origin.trace;
    this.#origin = origin;
    this.#task = task;
  }

  get signal(): AbortSignal {
    return this.#task.signal;
  }

  notify(): void {}

  progress(): void {}

  log(): void {}

  releaseStream(): void {}

  /** A ping is not a question that could wait. */
  canAsk(ask: Ask): boolean {
    return ask.method !== 'ping' && this.#origin.canAsk(ask);
  }

  ask(ask: Ask): Promise<JsonObject> {
    if (this.canAsk(ask)) return this.#task.ask(ask);
    const area = NEEDS[ask.method];
    const requiredCapabilities = area === undefined ? {} : { [area]: {} };
    return Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method, requiredCapabilities }));
  }
}
