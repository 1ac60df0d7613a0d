// An exchange as steps see it: everything sent back to the client passes their hooks, innermost first.
// 1. A hook that fails fails the exchange in the name of its step. Its message is not sent, because it may have to be withheld.
// 2. After `silence`, nothing more is sent back.
import type { RecordAudit } from '../../kernel/audit.ts';
import type { EventHub } from '../../kernel/events/event-hub.ts';
import type { State } from '../../kernel/state/state.ts';
import { DerivedExchange, deriveExchange } from '../../kernel/derived-exchange.ts';
import type { Ask, Exchange, LogEntry, Progress } from '../../kernel/exchange.ts';
import type { FormAnswerOf, FormAsk, Hooks, Notification, Outcome, StepExchange } from '../../kernel/step.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { callSafely } from '../../kernel/base/author-callback.ts';
import { droppable } from '../../kernel/base/stray-promises.ts';
import { cancelledError } from '../../kernel/base/cancelled-error.ts';
import type { GatewayError } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';
import { toStepOutcome } from './outcome.ts';
import { toStepError } from './step-error.ts';

/** The server that would handle a request, as far as it is known. */
export type OwnerOf = (exchange: Pick<Exchange, 'method' | 'params'>) => string | undefined;

/** What all exchanges of a chain share. */
export interface ChainContext {
  readonly scope: string;
  readonly ownerOf: OwnerOf;
  readonly log: Log;
  readonly events: EventHub | undefined;
  readonly state: State | undefined;
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

export class ChainExchange extends DerivedExchange implements StepExchange {
  readonly chain: ChainContext;
  readonly scope: string;
  #hooks: StepHooks[] | undefined;
  #isSilent = false;
  #hasAsked = false;
  /** The error of a failed hook. */
  failure: Error | undefined;
  /** The step that is handling it. */
  step = '';

  constructor(inner: Exchange, chain: ChainContext) {
    super(inner);
    this.chain = chain;
    this.scope = chain.scope;
  }

  get gatewayLog(): Log {
    return this.chain.log;
  }

  get audit(): RecordAudit | undefined {
    const { events } = this.chain;
    return events?.hasListeners ? (event) => events.tell(event) : undefined;
  }

  get owner(): string | undefined {
    return this.server ?? this.chain.ownerOf(this);
  }

  /**
   * Starts over with the current steps if they changed while a question was open, because a person may take days to answer.
   * Undefined if the exchange continues as it is. The hooks of the earlier steps still apply.
   */
  again(): Promise<Outcome> | undefined {
    const { inner } = this;
    if (!this.#hasAsked && !(inner instanceof ChainExchange && inner.#hasBeenAsked)) return undefined;
    return this.chain.again(deriveExchange(this, { params: this.#first }))?.then(toStepOutcome);
  }

  /** Whether a question was asked on it, or on the exchange that it is an attempt of. */
  get #hasBeenAsked(): boolean {
    return this.#hasAsked || (this.inner instanceof ChainExchange && this.inner.#hasBeenAsked);
  }

  /** The original params. */
  get #first(): JsonObject {
    return this.inner instanceof ChainExchange ? this.inner.#first : this.inner.params;
  }

  intercept(hooks: Hooks): void {
    (this.#hooks ??= []).push({ step: this.step, hooks });
  }

  /** Drops everything that is still sent on it. */
  silence(): void {
    this.#isSilent = true;
  }

  override notify(method: string, params?: JsonObject): void {
    this.#send<Notification>('notify', { method, params }, (last) => super.notify(last.method, last.params));
  }

  override progress(progress: Progress): void {
    this.#send('progress', progress, (last) => super.progress(last));
  }

  override log(entry: LogEntry): void {
    this.#send('log', entry, (last) => super.log(last));
  }

  override releaseStream(retryMs: number): void {
    if (!this.#isSilent) super.releaseStream(retryMs);
  }

  #send<T>(kind: 'notify' | 'progress' | 'log', value: T, last: (value: T) => void): void {
    if (this.#isSilent) return;
    let send = last;
    for (const { step, hooks } of this.#hooks ?? []) {
      const hook = hooks[kind] as ((value: T, next: (value: T) => void) => void) | undefined;
      if (!hook) continue;
      const next = send;
      const fail = (thrown: unknown): void => void (this.failure ??= toStepError(step, thrown, this.id));
      send = (given) => callSafely(() => hook.call(hooks, given, next), fail);
    }
    send(value);
  }

  override ask<const A extends FormAsk>(ask: A, signal?: AbortSignal): Promise<FormAnswerOf<A>>;
  override ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
  override ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return droppable(this.#ask(ask, signal));
  }

  async #ask(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    this.#hasAsked = true;
    if (this.#isSilent) throw cancelledError('withdrawn');
    const answer = await this.#askThroughHooks(ask, signal);
    await this.runGuard?.answered();
    return answer;
  }

  async #askThroughHooks(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    let isAsked = false;
    let pass = (value: Ask): Promise<JsonObject> => {
      isAsked = true;
      return super.ask(value, signal);
    };
    for (const { step, hooks } of this.#hooks ?? []) {
      const inner = pass;
      const next = (value: Ask): Promise<JsonObject> => droppable(inner(value));
      if (hooks.ask) pass = (value) => attempt(step, () => hooks.ask!(value, next));
      const passed = pass;
      if (hooks.asked) {
        pass = async (value) => {
          await attempt(step, async () => hooks.asked!(value));
          return passed(value);
        };
      }
    }
    const answer = await pass(ask);
    if (!isAsked) ask.onAnswered?.('step');
    return answer;
  }

  /** A step that may change questions has to see them. */
  override get maySuspend(): boolean | undefined {
    return super.maySuspend && !this.#hooks?.some(({ hooks }) => 'ask' in hooks);
  }
}

async function attempt<T>(step: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw toStepError(step, thrown);
  }
}
