// Tells the hub of the begin and the end of each call. It wraps all other layers, so that those who watch see what clients get.
import type { EventHub } from '../kernel/events/event-hub.ts';
import type { Exchange } from '../kernel/exchange.ts';
import { TargetLayer } from '../kernel/target.ts';
import type { HandleResult, Target } from '../kernel/target.ts';

export class EventsLayer extends TargetLayer {
  readonly #hub: EventHub;
  readonly #server: string | undefined;

  /** `server`: the server of every call, if there is only one. Default: what the router says. */
  constructor(target: Target, hub: EventHub, server?: string) {
    super(target);
    this.#hub = hub;
    this.#server = server;
  }

  override handle(exchange: Exchange): HandleResult {
    const hub = this.#hub;
    const call = hub.begin(exchange, this.#server);
    if (!call) return this.target.handle(exchange);
    let answer: HandleResult;
    try {
      answer = this.target.handle(exchange);
    } catch (thrown) {
      hub.failed(call, thrown);
      throw thrown;
    }
    if (answer instanceof Promise) hub.follow(call, answer);
    else hub.answered(call, answer);
    return answer;
  }
}
