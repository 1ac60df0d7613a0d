// One call of the stateless era, over as many requests as it takes. A question ends the request at hand with
// `input_required`; the retry brings the answers and a new outlet, and the handler, which never noticed, goes on.
// Questions asked together travel together: a round is closed one turn of the event loop after its first question.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { Ask, ClientView, LogEntry, Progress } from '../../../protocol/exchange.ts';
import type { JsonObject, RequestMessage } from '../../../protocol/message.ts';
import { isObject, toNotification } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { cannotBeAsked, missingCapability } from '../ask.ts';
import { isAtLeast } from '../log-level.ts';
import type { SplitParams } from '../meta.ts';
import type { Outlet } from '../outlet.ts';
import { ServedExchange } from '../served-exchange.ts';

interface OpenAsk {
  ask: Ask;
  resolve(answer: JsonObject): void;
  reject(reason: GatewayError): void;
}

/** What brings a parked call back to life. */
export interface Resumption {
  request: RequestMessage;
  split: SplitParams;
  client: ClientView;
  logLevel: LoggingLevel | undefined;
  outlet: Outlet;
}

/** Only these may answer with questions, and only these kinds may be asked. */
const MAY_ASK = new Set(['tools/call', 'prompts/get', 'resources/read']);
const ASKABLE = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

export class StatelessExchange extends ServedExchange {
  logLevel: LoggingLevel | undefined;
  /** How often this call has asked so far. */
  round = 0;
  /** Called when a round of questions is complete and has to be sent. */
  onAsked: (questions: JsonObject) => void = () => {};
  #open = new Map<string, OpenAsk>();
  #answers: JsonObject = {};
  #minted = 0;
  #scheduled = false;

  progress({ progress, total, message }: Progress): void {
    const { progressToken } = this;
    if (progressToken === undefined) return;
    const params = {
      progressToken,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    };
    this.tell(toNotification('notifications/progress', params));
  }

  log({ level, logger, data }: LogEntry): void {
    if (this.logLevel === undefined || !isAtLeast(level, this.logLevel)) return;
    this.tell(toNotification('notifications/message', { level, ...(logger !== undefined && { logger }), data }));
  }

  canAsk(ask: Ask): boolean {
    return this.#refusal(ask) === undefined;
  }

  ask(ask: Ask): Promise<JsonObject> {
    if (this.cancelled) return Promise.reject(new GatewayError('CANCELLED'));
    const refusal = this.#refusal(ask);
    if (refusal) return Promise.reject(refusal);
    const key = this.#keyFor(ask);
    const given = this.#answers[key];
    if (isObject(given)) {
      delete this.#answers[key];
      return Promise.resolve(given);
    }
    return new Promise((resolve, reject) => {
      this.#open.set(key, { ask, resolve, reject });
      this.#schedule();
    });
  }

  /** Answers that came along; those nobody asked for yet may be asked for later in this round. */
  give(answers: unknown): void {
    this.#answers = isObject(answers) ? { ...answers } : {};
    for (const [key, open] of this.#open) {
      const answer = this.#answers[key];
      if (!isObject(answer)) continue;
      delete this.#answers[key];
      this.#open.delete(key);
      open.resolve(answer);
    }
    if (this.#open.size > 0) this.#schedule(); // an answer is missing or malformed: ask again
  }

  resume({ request, split, client, logLevel, outlet }: Resumption): void {
    this.request = request;
    this.progressToken = split.progressToken;
    this.client = client;
    this.logLevel = logLevel;
    this.outlet = outlet;
    this.give(request.params?.inputResponses);
  }

  /** Nobody will answer any more. */
  abandon(): void {
    this.cancel();
  }

  override cancel(): boolean {
    const cancelled = super.cancel();
    for (const open of this.#open.values()) open.reject(new GatewayError('CANCELLED'));
    this.#open.clear();
    return cancelled;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#open.size > 0 && !this.ended && !this.cancelled) this.onAsked(this.#questions());
    });
  }

  #questions(): JsonObject {
    const questions: JsonObject = {};
    for (const [key, { ask }] of this.#open) questions[key] = toQuestion(ask);
    return questions;
  }

  #keyFor(ask: Ask): string {
    const wanted = ask.key ?? `ask-${++this.#minted}`;
    return this.#open.has(wanted) ? `${wanted}-${++this.#minted}` : wanted;
  }

  #refusal(ask: Ask): GatewayError | undefined {
    if (!MAY_ASK.has(this.method) || !ASKABLE.has(ask.method)) return cannotBeAsked(ask, undefined);
    const missing = missingCapability(ask, this.client.capabilities);
    return missing && cannotBeAsked(ask, missing);
  }
}

/** Embedded requests have no `elicitationId` in this era: correlation belongs into the state. */
function toQuestion({ method, params }: Ask): JsonObject {
  if (params === undefined) return { method };
  if (method !== 'elicitation/create') return { method, params };
  const { elicitationId, ...rest } = params;
  return { method, params: rest };
}
