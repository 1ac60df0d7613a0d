// A call whose questions reach a person even if the client cannot be asked. A question takes the first way that works:
// 1. The client's own connection, if it can be asked that way.
// 2. A stand-in: roots from the configuration, or a configured model for sampling.
// 3. Our page, if the client can open URLs.
// 4. Otherwise the call is held: its request is answered with the question as text, and a later request brings the
//    answer and gets what follows.
// - A question for a human goes to the client only if the operator trusts it (trust/answer-trust.ts), and takes the next way if the
//   client answers by itself (human-check.ts). The person gets the link to the page, the model does not.
// - Progress and log lines go to the request that currently carries the call.
import { DerivedExchange } from '../kernel/derived-exchange.ts';
import type { ChannelPart } from '../kernel/derived-exchange.ts';
import type { CallNotes } from '../kernel/events/call-notes.ts';
import type { Ask, ClientView, Exchange, LogEntry, Progress } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';
import { toPlainObject } from '../kernel/raw/raw-object.ts';
import type { ResultObject } from '../kernel/raw/raw-object.ts';
import type { Target } from '../kernel/target.ts';
import { CALL_TOOL } from '../kernel/methods.ts';
import { loggedPrincipal } from '../kernel/base/anonymous.ts';
import { Cancellation, follow } from '../kernel/base/cancellation.ts';
import { GatewayError, toError } from '../kernel/base/errors.ts';
import type { AskChannels } from './ask-channels.ts';
import { askAside, askOnPage } from './ask-by-round.ts';
import { HeldCall } from './held-call.ts';
import { noPerson } from './trust/answer-trust.ts';
import type { AnswerOrigin } from './trust/answer-trust.ts';

type Result = Promise<ResultObject> | ResultObject;

/** Is notified of clients whose calls are held. */
export interface HeldListener {
  onHeld(client: ClientView): void;
  /** Whether this tool was listed with an output schema. */
  hasOutputSchema(tool: unknown): boolean;
  /** The call has a result, before anybody reads it. */
  onResult(exchange: Exchange, result: ResultObject): void;
}

/** It is its own cancellation: a held call outlives its request and can still be cancelled. */
export class AskableCall extends Cancellation implements ChannelPart {
  /** The call as the client sent it. */
  readonly #inner: Exchange;
  /** The same call with this as its channel. */
  readonly exchange: Exchange;
  readonly #channels: AskChannels;
  readonly #listener: HeldListener | undefined;
  /** Settle the promise of the request that waits for the next result. */
  #resolve: ((next: ResultObject | Promise<ResultObject>) => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  /** The next result, if no request waits for it yet. Only the newest counts: a question that was answered before it was fetched is dropped. */
  #untold: Promise<ResultObject> | undefined;
  /** The request that gets the next result. */
  #carrier: Exchange | undefined;
  #held: HeldCall | undefined;
  #outcome: Promise<ResultObject> | undefined;
  /** Something listens for the cancellation. */
  #isFollowing = false;
  #isOver = false;
  #onTaken: (() => void) | undefined;

  constructor(inner: Exchange, channels: AskChannels, listener?: HeldListener) {
    super();
    this.#inner = inner;
    this.exchange = new DerivedExchange(inner, this);
    this.#channels = channels;
    this.#listener = listener;
    this.#carrier = inner;
  }

  get cancellation(): Cancellation {
    if (!this.#isFollowing) {
      this.#isFollowing = true;
      this.#follow(this.#inner);
      if (this.#carrier && this.#carrier !== this.#inner) this.#follow(this.#carrier);
    }
    return this;
  }

  /** False if we ask in the client's place, or the request was answered meanwhile: then the call itself waits. */
  get maySuspend(): boolean | undefined {
    return this.#inner.maySuspend && !this.#inner.client.assisted && this.#carrier === this.#inner;
  }

  notify(method: string, params?: JsonObject): void {
    this.#carrier?.notify(method, params);
  }

  progress(progress: Progress): void {
    this.#carrier?.progress(progress);
  }

  log(entry: LogEntry): void {
    this.#carrier?.log(entry);
  }

  /** Hands the call to the target. Returns its result, or the question that comes first. */
  run(target: Pick<Target, 'handle'>): Result {
    const outcome = target.handle(this.exchange);
    if (!(outcome instanceof Promise)) return outcome;
    this.#outcome = outcome;
    outcome.then(
      (result) => {
        this.#tellCarrier();
        this.#end();
        this.#listener?.onResult(this.#inner, result);
        this.#deliver(result);
      },
      (thrown: unknown) => {
        this.#tellCarrier();
        this.#end();
        this.#fail(thrown);
      },
    );
    return this.#next();
  }

  /** Another request takes over: it gets the next result, and cancelling it cancels the call. */
  carryBy(exchange: Exchange): Promise<ResultObject> {
    this.#carrier = exchange;
    this.#follow(exchange);
    if (this.#isOver) this.#tellCarrier();
    if (this.#isOver) this.#onTaken?.();
    return this.#next();
  }

  whenTaken(callback: () => void): void {
    if (this.#carrier || this.#isOver) callback(); // a task that continues after its call is fetched in its own way
    else this.#onTaken = callback;
  }

  /** Answers the request that carries the call. The call continues without a request until another one carries it. */
  answerCarrier(next: Promise<ResultObject>): void {
    // Clients check results against the tool's schema and reject a mismatch, unless it is marked as an error.
    const isChecked = this.#carrier === this.#inner && this.#listener?.hasOutputSchema(this.#inner.params.name);
    this.#carrier = undefined;
    if (this.#inner.observed) this.#inner.observed.ending = this.#outcome;
    this.#deliver(isChecked ? next.then((result) => ({ ...toPlainObject(result), isError: true })) : next);
    this.#listener?.onHeld(this.#inner.client);
  }

  /** Its result, or its task, was sent. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** A request that only fetches the result has not failed either if a person has said no. */
  #tellCarrier(): void {
    const carrier = this.#carrier?.observed;
    if (carrier && this.#inner.observed?.isDeclined) carrier.isDeclined = true;
  }

  #end(): void {
    this.#isOver = true;
    this.#carrier = undefined;
  }

  callOff(reason?: unknown): void {
    this.abort(reason);
  }

  canAsk(ask: Ask): boolean {
    if (ask.human && !this.#isTrusted) return this.#channels.hasPage;
    if (this.#inner.canAsk(ask) || this.#channels.standInFor(ask, this.#inner.client)) return true;
    return !this.#isOver && this.#channels.canAsk(ask, this.#inner);
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    const { observed } = this.#inner;
    return observed?.hasMoments ? this.#showQuestion(ask, signal, observed) : this.#ask(ask, signal);
  }

  /** Asks before those who watch the call. */
  async #showQuestion(ask: Ask, signal: AbortSignal | undefined, observed: CallNotes): Promise<JsonObject> {
    const { method, params, ofGateway = false } = ask;
    observed.tell({ kind: 'asked', method, params, ofGateway });
    try {
      const answer = await this.#ask(ask, signal);
      observed.tell({ kind: 'replied' });
      return answer;
    } catch (thrown) {
      observed.tell({ kind: 'replied', thrown });
      throw thrown;
    }
  }

  #ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    const standIn = this.#channels.standInFor(ask, this.#inner.client);
    if (standIn)
      return standIn(ask, {
        id: this.#inner.id,
        client: this.#inner.client,
        signal: signal ?? this.cancellation.signal,
      });
    if (ask.human) return this.#askHuman(ask, signal);
    const inner = this.#inner;
    const isCarried = this.#carrier === inner;
    // Tasks ask their own questions.
    const isAskedThere = this.#isOver || (isCarried && inner.canAsk(ask)) || !this.#channels.canAsk(ask, inner);
    if (isAskedThere) return inner.ask(ask, signal);
    if (isCarried && this.#channels.canOpenPage(inner)) return askOnPage(ask, inner, this.#channels, signal);
    return this.#hold(ask, signal);
  }

  waits(words: string, signal: AbortSignal): void {
    const { assisted } = this.#inner.client;
    if (this.#isOver || !assisted?.elicitation || this.#inner.method !== CALL_TOOL) return;
    this.#held ??= new HeldCall(this, this.#channels);
    this.#held.wait(words, signal);
  }

  byPage(ask: Ask, by: Exchange, signal?: AbortSignal): Promise<JsonObject> | undefined {
    if (ask.human && !this.#isTrusted) return this.#askHuman(ask, signal);
    return this.#channels.canOpenPage(this.#inner) ? askOnPage(ask, by, this.#channels, signal) : undefined;
  }

  /** A request that was answered can no longer be asked. */
  #byWire(ask: Ask, signal: AbortSignal | undefined): (() => Promise<JsonObject>) | undefined {
    if (this.#carrier !== this.#inner) return undefined;
    if (this.#inner.canAsk(ask)) return () => this.#inner.ask(ask, signal);
    return this.#channels.canOpenPage(this.#inner)
      ? () => askOnPage(ask, this.#inner, this.#channels, signal)
      : undefined;
  }

  get #isTrusted(): boolean {
    return this.#channels.answerTrust.trusts(this.#inner.client);
  }

  /** Leaves a receipt, however it ends. */
  async #askHuman(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    const { answerTrust } = this.#channels;
    const given: AnswerOrigin = { way: 'client', who: undefined };
    const onAnswered: Ask['onAnswered'] = (way, who) => void Object.assign(given, { way, who });
    try {
      this.#checkLength(ask);
      const answer = await this.#askPerson({ ...ask, onAnswered }, signal);
      const { way, by, shown } = answerTrust.record(ask, this.exchange, answer, given);
      ask.onAnswered?.(way, by, shown);
      return answer;
    } catch (thrown) {
      answerTrust.record(ask, this.exchange, toError(thrown), given);
      throw thrown;
    }
  }

  /** What cannot be shown whole cannot be approved. */
  #checkLength({ params }: Ask): void {
    const { maxShownChars: limit } = this.#channels.limits;
    const { length } = String(params?.message ?? '');
    if (length > limit) throw new GatewayError('TOO_LONG_TO_SHOW', { length, limit });
  }

  /** In the client, if it is trusted and does not answer by itself; else on the page. */
  async #askPerson(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    const { answerTrust, log, humanCheck } = this.#channels;
    const { client, id: exchange } = this.#inner;
    const mayHold = !this.#isOver && this.#channels.canAsk(ask, this.#inner);
    if (this.#isTrusted) {
      if (!mayHold) return this.#inner.ask(ask, signal);
      const askClient = this.#byWire(ask, signal);
      const answer =
        askClient && humanCheck.isTrusted(client) ? await humanCheck.take(ask, client, askClient) : undefined;
      if (answer) return answer;
      if (askClient)
        log.warn({ exchange, client: client.info.name, principal: loggedPrincipal(client.principal) }, 'ask.nobody');
    }
    if (!answerTrust.isStrict) return this.#hold(ask, signal);
    if (!this.#channels.hasPage) throw new GatewayError('NO_PAGE');
    if (!(await answerTrust.canReach(client))) throw noPerson(client);
    return mayHold ? this.#hold(ask, signal) : askAside(ask, this.exchange, this.#channels, signal);
  }

  #hold(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    this.#held ??= new HeldCall(this, this.#channels);
    return this.#held.ask(ask, signal);
  }

  /** Resolves with the next result, or the one that already waits. */
  #next(): Promise<ResultObject> {
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold) return untold;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Keeps the result until it is asked for. */
  #deliver(next: ResultObject | Promise<ResultObject>): void {
    const resolve = this.#resolve;
    this.#resolve = this.#reject = undefined;
    if (resolve) return resolve(next);
    this.#untold = Promise.resolve(next);
    this.#untold.catch(() => {}); // reported to the request that fetches it
  }

  #fail(reason: unknown): void {
    const reject = this.#reject;
    this.#resolve = this.#reject = undefined;
    if (reject) reject(reason);
    else this.#deliver(Promise.reject(reason));
  }

  /** Cancels the call with the request, if anything listens for it. */
  #follow(exchange: Exchange): void {
    if (!this.#isFollowing) return;
    follow(this, exchange.cancellation ?? exchange.signal); // reading `signal` would create one for every call
  }
}
