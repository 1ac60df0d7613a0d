// A request that the router or a step makes for a client without telling the client.
import type { ClientView, Exchange } from './exchange.ts';
import type { JsonObject } from './message.ts';
import { GatewayError } from './base/errors.ts';
import { createCounter } from './crypto/ids.ts';

const nextId = createCounter('quiet-');

export class InternalExchange implements Exchange {
  readonly id: string = nextId();
  readonly method: string;
  readonly client: ClientView;
  readonly signal: AbortSignal;
  readonly task = undefined;
  readonly trace = undefined;
  params: JsonObject;
  ownTool: Exchange['ownTool'];

  constructor(method: string, params: JsonObject, client: ClientView, signal = new AbortController().signal) {
    this.method = method;
    this.params = params;
    this.client = client;
    this.signal = signal;
  }

  notify(): void {}

  progress(): void {}

  log(): void {}

  canAsk(): boolean {
    return false;
  }

  ask(): Promise<JsonObject> {
    return Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: this.method }));
  }

  releaseStream(): void {}
}
