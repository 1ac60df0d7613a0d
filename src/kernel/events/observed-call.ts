// One call of a client as those see it who watch: made at its begin, with what is found out on the way, until its end. It belongs to the hub; parts that
// find something out about a call write it here (`exchange.observed`).
import { loggedPrincipal } from '../base/anonymous.ts';
import { LinkedNode } from '../containers/linked-list.ts';
import type { Exchange } from '../exchange.ts';
import type { JsonObject } from '../message.ts';
import { nameIn } from '../named-thing.ts';
import type { ResultObject } from '../raw/raw-object.ts';
import type { CallAnswer, CallMoment, CallNotes, SpokenTo } from './call-notes.ts';

/** Those who watch it. */
interface CallAudience {
  readonly moments: readonly unknown[];
  readonly answers: readonly unknown[];
  run(call: ObservedCall): void;
  moment(call: ObservedCall, moment: CallMoment): void;
  answer(call: ObservedCall, answer: CallAnswer): void;
  end(call: ObservedCall): void;
}

/** Only while somebody watches; watchers must not keep it after its end, because it holds the whole exchange. */
export class ObservedCall extends LinkedNode<ObservedCall> implements CallNotes {
  readonly exchange: Exchange;
  /** The params as they came: later ones may carry the server's names. */
  readonly params: JsonObject;
  /** By the monotonic clock, in milliseconds. */
  readonly begun: number;
  readonly audience: CallAudience;
  readonly #onlyServer: string | undefined;
  name: string | undefined;
  unwrapped: JsonObject | undefined;
  spokenTo: SpokenTo | undefined;
  findings: readonly string[] | undefined;
  isDeclined: boolean;
  ending: Promise<ResultObject> | undefined;
  /** It took long, which was told. */
  isLong = false;
  /** How long it took until its request was answered, in milliseconds; known only if somebody watches answers. */
  answeredMs: number | undefined;
  /** How it ended, in one word or the name of an error. */
  outcome: string | undefined;
  /** How long it took, or has taken so far, in milliseconds. */
  ms: number | undefined;

  /** `server`: the server of every call, if there is only one. */
  constructor(
    exchange: Exchange,
    { begun, audience, server }: { begun: number; audience: CallAudience; server: string | undefined },
  ) {
    super();
    this.exchange = exchange;
    this.params = exchange.params;
    this.begun = begun;
    this.audience = audience;
    this.#onlyServer = server;
    this.name = undefined;
    this.unwrapped = undefined;
    this.spokenTo = undefined;
    this.findings = undefined;
    this.isDeclined = false;
    this.ending = undefined;
    this.answeredMs = undefined;
    this.outcome = undefined;
    this.ms = undefined;
  }

  get id(): string {
    return this.exchange.id;
  }

  get method(): string {
    return this.exchange.method;
  }

  get server(): string | undefined {
    return this.#onlyServer ?? this.exchange.server;
  }

  /** For logs. */
  get principal(): string {
    return loggedPrincipal(this.exchange.client.principal);
  }

  /** The name by which the client called it. */
  get shownName(): string | undefined {
    return nameIn(this.exchange.method, this.params);
  }

  get hasMoments(): boolean {
    return this.audience.moments.length > 0;
  }

  tell(moment: CallMoment): void {
    this.audience.moment(this, moment);
  }
}
