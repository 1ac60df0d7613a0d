// An exchange as steps see it: everything sent back to the client passes their hooks, innermost first.
// 1. A hook that fails fails the exchange in the name of its step. Its message is not sent, because it may have to be withheld.
// 2. After `silence`, nothing more is sent back.
import { DelegatedExchange } from '../../../protocol/delegated-exchange.ts';
import type { Ask, Exchange, LogEntry, Progress } from '../../../protocol/exchange.ts';
import type { FormAnswerOf, FormAsk } from '../../../protocol/schema/form-answer.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { Hooks, Notification, Outcome, StepExchange } from '../../../protocol/step.ts';
import { toSignal } from '../../../shared/cancellation.ts';
import type { Abortable } from '../../../shared/cancellation.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { Log } from '../../../shared/log.ts';
import { toStepOutcome } from './outcome.ts';
import { toStepError } from './step-error.ts';

/** The server that would handle a request, as far as it is known. */
export type OwnerOf = (exchange: Pick<Exchange, 'method' | 'params'>) => string | undefined;

/** What all exchanges of a chain share. */
export interface ChainContext {
  readonly scope: string;
  readonly ownerOf: OwnerOf;
  readonly log: Log;
  /** The same for successive versions of a chain. */
  readonly lineage: string;
  /** Handles the exchange with the chain that has replaced this one; undefined if none has. */
  again(exchange: Exchange): Promise<ResultObject> | undefined;
  /** Reports a mistake in the code of a step. */
  onMisuse(error: GatewayError): void;
}

/** The hooks of one step. */
interface StepHooks {
  step: string;
  hooks: Hooks;
}

export class ChainExchange extends DelegatedExchange implements StepExchange {
  readonly chain: ChainContext;
  #intercepting: StepHooks[] | undefined;
  #own: Abortable | undefined;
  #silent = false;
  #hasAsked = false;
  #params: JsonObject;
  /** The step that is handling it. */
  step = '';
  /** The error of a failed hook. */
  failure: Error | undefined;

  constructor(inner: Exchange, chain: ChainContext) {
    super(inner);
    this.chain = chain;
    this.#params = inner.params;
  }

  override get params(): JsonObject {
    return this.#params;
  }

  override set params(params: JsonObject) {
    this.#params = params;
  }

  get scope(): string {
    return this.chain.scope;
  }

  get gatewayLog(): Log {
    return this.chain.log;
  }

  get owner(): string | undefined {
    return this.server ?? this.chain.ownerOf(this);
  }

  override get signal(): AbortSignal {
    return this.#own ? toSignal(this.#own) : this.inner.signal;
  }

  override set signal(signal: AbortSignal) {
    this.#own = signal;
  }

  override get cancellation(): Abortable {
    return this.#own ?? this.inner.cancellation ?? this.inner.signal;
  }

  override set cancellation(cancellation: Abortable) {
    this.#own = cancellation;
  }

  /** The cancellation set by a step; restoring it must not create an unused signal. */
  get ownCancellation(): Abortable | undefined {
    return this.#own;
  }

  set ownCancellation(own: Abortable | undefined) {
    this.#own = own;
  }

  /**
   * Starts over with the current steps if they changed while a question was open, because a person may take days to answer.
   * Undefined if the exchange continues as it is.
   */
  again(): Promise<Outcome> | undefined {
    return this.#mayBeOutdated
      ? this.chain.again(new RenewedExchange(this, this.#first))?.then(toStepOutcome)
      : undefined;
  }

  get #mayBeOutdated(): boolean {
    return this.#hasAsked || (this.inner instanceof ChainExchange && this.inner.#mayBeOutdated);
  }

  /** The original params. */
  get #first(): JsonObject {
    return this.inner instanceof ChainExchange ? this.inner.#first : this.inner.params;
  }

  intercept(hooks: Hooks): void {
    const one = { step: this.step, hooks };
    if (this.#intercepting) this.#intercepting.push(one);
    else this.#intercepting = [one];
  }

  /** Drops everything that is still sent on it. */
  silence(): void {
    this.#silent = true;
  }

  override notify(method: string, params?: JsonObject): void {
    if (this.#silent) return;
    if (!this.#intercepting) return this.inner.notify(method, params);
    this.#send<Notification>('notify', { method, params }, (last) => this.inner.notify(last.method, last.params));
  }

  override progress(progress: Progress): void {
    if (this.#silent) return;
    if (!this.#intercepting) return this.inner.progress(progress);
    this.#send('progress', progress, (last) => this.inner.progress(last));
  }

  override log(entry: LogEntry): void {
    if (this.#silent) return;
    if (!this.#intercepting) return this.inner.log(entry);
    this.#send('log', entry, (last) => this.inner.log(last));
  }

  override ask<const A extends FormAsk>(ask: A, signal?: AbortSignal): Promise<FormAnswerOf<A>>;
  override ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
  override async ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (this.#silent) throw new GatewayError('CANCELLED');
    this.#hasAsked = true;
    if (!this.#intercepting) return this.inner.ask(ask, signal);
    let isPut = false;
    let put = (value: Ask): Promise<JsonObject> => {
      isPut = true;
      return this.inner.ask(value, signal);
    };
    for (const { step, hooks } of this.#intercepting) {
      const next = put;
      if (hooks.ask) put = (value) => attempt(step, () => hooks.ask!(value, next));
      const passed = put;
      if (hooks.asked) {
        put = async (value) => {
          await attempt(step, async () => hooks.asked!(value));
          return passed(value);
        };
      }
    }
    const answer = await put(ask);
    if (!isPut) ask.onAnswered?.('step');
    return answer;
  }

  /** A step that may change questions has to see them. */
  override get maySuspend(): boolean | undefined {
    return this.inner.maySuspend && !this.#intercepting?.some(({ hooks }) => 'ask' in hooks);
  }

  override releaseStream(retryMs: number): void {
    if (!this.#silent) this.inner.releaseStream(retryMs);
  }

  #send<T>(kind: 'notify' | 'progress' | 'log', value: T, last: (value: T) => void): void {
    let send = last;
    for (const { step, hooks } of this.#intercepting!) {
      const hook = hooks[kind] as ((value: T, next: (value: T) => void) => void) | undefined;
      if (!hook) continue;
      const next = send;
      send = (given) => {
        try {
          hook.call(hooks, given, next);
        } catch (thrown) {
          this.failure ??= toStepError(step, thrown, this.id);
        }
      };
    }
    send(value);
  }
}

/** The same exchange with its original params; the hooks of the earlier steps still apply. */
class RenewedExchange extends DelegatedExchange {
  #params: JsonObject;

  constructor(inner: Exchange, params: JsonObject) {
    super(inner);
    this.#params = params;
  }

  override get params(): JsonObject {
    return this.#params;
  }

  override set params(params: JsonObject) {
    this.#params = params;
  }
}

async function attempt<T>(step: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw toStepError(step, thrown);
  }
}
