// One call of the stateless era, over as many requests as needed. A question ends the current request with
// `input_required`; the retry brings the answers and a new outlet, and the handler continues without noticing.
// 1. Questions asked together travel together: a round closes one turn of the event loop after its first question.
// 2. While the call is parked nothing is sent: new questions, and the outcome if the handler ends early, go out with
//    the retry.
// 3. Answers may arrive before their question, for questions of servers and authors. A question that must be asked
//    first (approvals, questions to a human) is answered only by a retry of the request that carried it.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import { mustBeAskedFirst } from '../../../kernel/exchange.ts';
import type { Ask, Exchange, LogEntry, Progress } from '../../../kernel/exchange.ts';
import { isObject, toResult } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import { CALL_METHODS } from '../../../kernel/methods.ts';
import { OpenQuestions } from '../../../kernel/containers/open-questions.ts';
import { dictionary } from '../../../kernel/containers/dictionary.ts';
import { cancelledBy, cancelledError } from '../../../kernel/base/cancelled-error.ts';
import { toError } from '../../../kernel/base/errors.ts';
import type { ServeContext } from '../serve/serve-context.ts';
import { isAtLeast } from '../notifications.ts';
import { parkCall } from '../serve/parked-calls.ts';
import type { ParkedCall } from '../serve/parked-calls.ts';
import { ServedExchange } from '../serve/served-exchange.ts';
import { sealState } from './request-state.ts';
import { toInputRequired } from './results.ts';
import type { StatelessClientDialect } from './stateless-client-dialect.ts';

interface OpenAsk {
  ask: Ask;
  /** Whether the question was sent to the client. */
  isSent: boolean;
}

export class StatelessExchange extends ServedExchange implements ParkedCall {
  logLevel: LoggingLevel | undefined;
  /** The number of rounds so far. */
  round = 0;
  /** Set as soon as it is made. */
  declare context: ServeContext;
  /** The same. */
  declare dialect: StatelessClientDialect;
  /** How often the call was answered with questions and repeated. */
  suspensions = 0;
  resumed: Exchange['resumed'];
  /** The current request was answered with questions; the next one brings another outlet. */
  parked = false;
  /** A question was asked while a server may have acted. */
  #wasSent = false;
  /** Created by the first question; most calls ask none. */
  #open: OpenQuestions<OpenAsk> | undefined;
  #answers: JsonObject | undefined;
  #held: (() => void) | undefined;
  #scheduled = false;

  progress(progress: Progress): void {
    this.tell(this.dialect.toProgress(progress, this));
  }

  log(entry: LogEntry): void {
    if (this.logLevel === undefined || !isAtLeast(entry.level, this.logLevel)) return;
    this.tell(this.dialect.toLog(entry));
  }

  canAsk(ask: Ask): boolean {
    return this.dialect.canAsk(ask, this);
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (this.aborted) return Promise.reject(cancelledBy(this));
    if (this.ended) return Promise.reject(cancelledError('answered'));
    if (signal?.aborted) return Promise.reject(cancelledError('withdrawn'));
    const refusal = this.dialect.whyNotAsked(ask, this);
    if (refusal) return Promise.reject(refusal);
    const open = (this.#open ??= new OpenQuestions<OpenAsk>());
    const key = open.toKey(ask.key, 'ask-');
    const given = mustBeAskedFirst(ask) ? undefined : this.#takeAnswer(key);
    if (given) return Promise.resolve(given);
    this.#schedule();
    return open.open(key, { ask, isSent: false }, { asker: signal });
  }

  get rounds(): number {
    return this.round + this.suspensions;
  }

  /**
   * False once a handler waits here, because it must not run twice; answers that came with the first call are for its
   * questions.
   */
  get maySuspend(): boolean {
    if (!CALL_METHODS.has(this.method) || this.round > 0 || this.#open?.size || this.#answers) return false;
    return this.suspensions < this.context.limits.maxRounds;
  }

  /** Answers by key. One that is not asked for yet may be used later in this round. */
  set answers(answers: JsonObject | undefined) {
    this.#answers = answers && { ...answers };
  }

  /** For a target that takes the answers with the call. */
  takeAnswers(): JsonObject {
    const answers = this.#answers ?? {};
    this.#answers = undefined;
    return answers;
  }

  /** Continues a parked call with the outlet, answers and client data of the retry. */
  resume(retry: StatelessExchange): void {
    this.request = retry.request;
    this.progressToken = retry.progressToken;
    this.client = retry.client;
    this.logLevel = retry.logLevel;
    this.outlet = retry.outlet;
    this.parked = false;
    this.#answers = retry.#answers;
    if (this.#held) this.#held();
    else this.#settle();
  }

  /** Keeps the outcome until a request is open. */
  hold(tell: () => void): void {
    this.#held = tell;
  }

  override cancel(reason?: unknown): boolean {
    const cancelled = super.cancel(reason);
    this.#open?.refuseAll(cancelledBy(this));
    return cancelled;
  }

  protected override tell(notification: NotificationMessage | undefined): void {
    if (!this.parked) super.tell(notification);
  }

  #settle(): void {
    for (const [key, open] of this.#open?.entries() ?? []) {
      // A question asked while the call was parked has not been sent yet.
      const answer = open.isSent || !mustBeAskedFirst(open.ask) ? this.#takeAnswer(key) : undefined;
      if (answer) this.#open!.answer(key, answer);
    }
    if (this.#open?.size) this.#schedule(); // an answer is missing, so ask again
  }

  #takeAnswer(key: string): JsonObject | undefined {
    const answers = this.#answers;
    if (!answers || !Object.hasOwn(answers, key)) return undefined;
    const answer = answers[key];
    if (!isObject(answer)) return undefined;
    delete answers[key];
    return answer;
  }

  #schedule(): void {
    if (this.#scheduled || this.parked) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#open?.size && !this.ended && !this.aborted && !this.parked) this.#park();
    });
  }

  /** Answers the current request with the questions; the call waits in memory for the retry. */
  #park(): void {
    const { request, client, context } = this;
    const questions = this.#questions();
    let state: string;
    try {
      const ticket = parkCall(this, context.parked);
      this.round++;
      const { sealer, nodes } = context;
      state = sealState({ sealer, mark: nodes?.mark }, request, client.principal, {
        ticket,
        sent: this.#mayHaveActed(),
      });
    } catch (thrown) {
      this.#open!.refuseAll(toError(thrown));
      return;
    }
    this.parked = true;
    this.outlet.end(toResult(request.id, toInputRequired(questions, state, { info: context.target.info })));
  }

  #mayHaveActed(): boolean {
    const asks = Array.from(this.#open?.entries() ?? [], ([, { ask }]) => ask);
    return (this.#wasSent ||= this.suspensions > 0 || !asks.every(({ isBefore }) => isBefore === true));
  }

  #questions(): JsonObject {
    const questions: JsonObject = dictionary();
    for (const [key, open] of this.#open?.entries() ?? []) {
      open.isSent = true;
      questions[key] = this.dialect.toAsk(open.ask);
    }
    return questions;
  }
}
