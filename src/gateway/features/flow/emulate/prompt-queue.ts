// Asks the questions of a call as prompts, one after the other, and collects the answers.
// 1. At most one prompt is open; questions asked together wait their turn.
// 2. An invalid answer does not count: the same prompt is asked again under a new id.
import type { Ask } from '../../../../kernel/exchange.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import { present } from '../../../../kernel/message.ts';
import { cancelledBy } from '../../../../kernel/base/cancelled-error.ts';
import { GatewayError } from '../../../../kernel/base/errors.ts';
import { openPromise } from '../../../../kernel/base/timing.ts';
import type { Settlers } from '../../../../kernel/base/timing.ts';
import { toFormPrompts } from './form-prompts.ts';
import type { FieldPrompt } from './form-prompts.ts';

interface Open {
  promptId: string;
  field: FieldPrompt;
  /** Only a person may answer. */
  isForHuman: boolean;
  prompt: JsonObject;
  answered: (given: PromptResponse) => void;
}

export type PromptResponse =
  /** `at` is the client's time of the answer, `meta` the client's own data about it. */
  { value: unknown; at?: number; meta?: JsonObject } | { action: 'decline' | 'cancel' };

/** The prompt that an answer belongs to. */
export interface PromptReference {
  promptId?: string | undefined;
  /** The client has neither named nor acknowledged the prompt. */
  isUnacknowledged?: boolean | undefined;
  /** Nobody vouches for the client behind the gateway that sends it. */
  isUnproven?: boolean | undefined;
}

/** Sends prompts to the client. */
interface Asker {
  tell: (prompt: JsonObject, step: JsonObject | undefined) => void;
  withdrawn: (promptId: string) => void;
}

interface HistoryTurn {
  turnId: number;
  prompt: JsonObject;
  response: JsonObject;
  timestamp: number;
}

/** After this many invalid answers, the question counts as declined. */
const MAX_WRONG = 100;
const UNSURE = "the client has not acknowledged this question, which wants a person's own word; name its promptId";

export class PromptQueue {
  readonly history: HistoryTurn[] = [];
  readonly #data = new Map<string, unknown>();
  readonly #client: Asker;
  #last: Promise<unknown> = Promise.resolve();
  #open: Open | undefined;
  #count = 0;
  #wrong = 0;

  constructor(client: Asker) {
    this.#client = client;
  }

  /** All answers by field name. */
  get data(): JsonObject {
    return Object.fromEntries(this.#data);
  }

  /** The open prompt. */
  get current(): JsonObject | undefined {
    return this.#open?.prompt;
  }

  /** Resolves with an answer as in `elicitation/create`. */
  ask(ask: Ask, signal: AbortSignal): Promise<JsonObject> {
    const asked = this.#last.then(() => this.#askFields(ask, signal));
    this.#last = asked.catch(() => {}); // reported to the asker
    return asked;
  }

  /** Undefined if the answer was accepted; else what is wrong with it, and the prompt is asked again. */
  respond(
    given: PromptResponse,
    { promptId, isUnacknowledged, isUnproven }: PromptReference,
    now: number,
  ): { error: string } | undefined {
    const open = this.#open!;
    if (promptId !== undefined && promptId !== open.promptId) {
      throw new GatewayError('FLOW_INVALID_TRANSITION', { state: 'waiting_user', reason: 'another prompt is open' });
    }
    if (isUnacknowledged && open.isForHuman) {
      throw new GatewayError('FLOW_INVALID_TRANSITION', { state: 'waiting_user', reason: UNSURE });
    }
    if (isUnproven && open.isForHuman) throw new GatewayError('NO_PERSON');
    if ('action' in given) {
      open.answered(given);
      return undefined;
    }
    const checked = open.field.check(given.value);
    if ('error' in checked) return this.#again(open, checked.error);
    const { value } = checked;
    const response = present({ value, timestamp: given.at, metadata: given.meta });
    this.history.push({ turnId: this.history.length, prompt: open.prompt, response, timestamp: now });
    if (open.field.name !== undefined && value !== undefined) this.#data.set(open.field.name, value);
    open.answered({ value });
    return undefined;
  }

  async #askFields(ask: Ask, signal: AbortSignal): Promise<JsonObject> {
    const fields = toFormPrompts(ask);
    const isForHuman = ask.human === true;
    const content: [string, unknown][] = [];
    for (const [index, field] of fields.entries()) {
      const step = fields.length > 1 ? { current: index + 1, total: fields.length } : undefined;
      const given = await this.#askField({ field, isForHuman }, step, signal);
      if ('action' in given) return given;
      if (field.name === undefined && given.value === false) return { action: 'decline' };
      if (field.name !== undefined && given.value !== undefined) content.push([field.name, given.value]);
    }
    const isForm = fields.some(({ name }) => name !== undefined);
    return { action: 'accept', ...(isForm && { content: Object.fromEntries(content) }) };
  }

  #askField(
    asked: Pick<Open, 'field' | 'isForHuman'>,
    step: JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<PromptResponse> {
    const takeBack = (): void => {
      if (this.#open) this.#client.withdrawn(this.#open.promptId);
      this.#open = undefined;
    };
    const begin = ({ resolve }: Settlers<PromptResponse>): void => {
      const answered = (given: PromptResponse): void => {
        this.#open = undefined;
        resolve(given);
      };
      this.#show({ ...asked, answered }, step);
    };
    if (!signal.aborted) return openPromise(signal, { begin, takeBack });
    takeBack();
    return Promise.reject(cancelledBy(signal));
  }

  #show(asked: Pick<Open, 'field' | 'isForHuman' | 'answered'>, step: JsonObject | undefined, error?: string): void {
    const { field } = asked;
    const promptId = `${field.name ?? 'answer'}~${++this.#count}`;
    const prompt = { ...field.prompt, promptId, ...(error !== undefined && { error }) };
    this.#open = { ...asked, promptId, prompt };
    this.#client.tell(prompt, step);
  }

  #again(open: Open, error: string): { error: string } {
    if (++this.#wrong > MAX_WRONG) open.answered({ action: 'decline' });
    else this.#show(open, undefined, error);
    return { error };
  }
}
