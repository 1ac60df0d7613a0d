// The questions of a call, one prompt after the other: what is open, what was answered, and what the answers make together.
// 1. Questions that are asked at once are put one after the other; at most one prompt is open.
// 2. An answer that does not fit is no answer: the same prompt is put again, under another id.
import type { Ask } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import { toFormPrompts } from './form-prompts.ts';
import type { FieldPrompt } from './form-prompts.ts';

interface Open {
  promptId: string;
  field: FieldPrompt;
  prompt: JsonObject;
  answered: (given: Given) => void;
}

export type Given = { value: unknown } | { action: 'decline' | 'cancel' };

export interface Turn {
  turnId: number;
  prompt: JsonObject;
  response: JsonObject;
  timestamp: number;
}

/** How often a client may answer wrongly before the question is taken for declined. */
const MAX_WRONG = 100;

export class AskedSession {
  readonly history: Turn[] = [];
  readonly #data = new Map<string, unknown>();
  readonly #tell: (prompt: JsonObject, step: JsonObject | undefined) => void;
  #last: Promise<unknown> = Promise.resolve();
  #open: Open | undefined;
  #count = 0;
  #wrong = 0;

  constructor(tell: (prompt: JsonObject, step: JsonObject | undefined) => void) {
    this.#tell = tell;
  }

  /** All that was answered, by the names of the fields. */
  get data(): JsonObject {
    return Object.fromEntries(this.#data);
  }

  /** The prompt that waits for an answer. */
  get current(): JsonObject | undefined {
    return this.#open?.prompt;
  }

  /** As `elicitation/create` is answered. */
  ask(ask: Ask, signal: AbortSignal): Promise<JsonObject> {
    const asked = this.#last.then(() => this.#put(toFormPrompts(ask), signal));
    this.#last = asked.catch(() => {}); // told to whoever asked
    return asked;
  }

  /** Undefined where the answer was taken; else what is wrong with it, and the prompt is put again. */
  respond(given: Given, promptId: string | undefined, now: number): { error: string } | undefined {
    const open = this.#open!;
    if (promptId !== undefined && promptId !== open.promptId) {
      throw new GatewayError('FLOW_INVALID_TRANSITION', { state: 'waiting_user', reason: 'another prompt is open' });
    }
    if ('action' in given) {
      open.answered(given);
      return undefined;
    }
    const checked = open.field.check(given.value);
    if ('error' in checked) return this.#again(open, checked.error);
    const { value } = checked;
    this.history.push({ turnId: this.history.length, prompt: open.prompt, response: { value }, timestamp: now });
    if (open.field.name !== undefined && value !== undefined) this.#data.set(open.field.name, value);
    open.answered({ value });
    return undefined;
  }

  async #put(fields: FieldPrompt[], signal: AbortSignal): Promise<JsonObject> {
    const content: [string, unknown][] = [];
    for (const [index, field] of fields.entries()) {
      const step = fields.length > 1 ? { current: index + 1, total: fields.length } : undefined;
      const given = await this.#putField(field, step, signal);
      if ('action' in given) return given;
      if (field.name === undefined && given.value === false) return { action: 'decline' };
      if (field.name !== undefined && given.value !== undefined) content.push([field.name, given.value]);
    }
    const isForm = fields.some(({ name }) => name !== undefined);
    return { action: 'accept', ...(isForm && { content: Object.fromEntries(content) }) };
  }

  #putField(field: FieldPrompt, step: JsonObject | undefined, signal: AbortSignal): Promise<Given> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#open = undefined;
        reject(new GatewayError('CANCELLED'));
      };
      if (signal.aborted) return giveUp();
      signal.addEventListener('abort', giveUp, { once: true });
      const answered = (given: Given): void => {
        signal.removeEventListener('abort', giveUp);
        this.#open = undefined;
        resolve(given);
      };
      this.#show(field, step, answered);
    });
  }

  #show(field: FieldPrompt, step: JsonObject | undefined, answered: Open['answered'], error?: string): void {
    const promptId = `${field.name ?? 'answer'}~${++this.#count}`;
    const prompt = { ...field.prompt, promptId, ...(error !== undefined && { error }) };
    this.#open = { promptId, field, prompt, answered };
    this.#tell(prompt, step);
  }

  #again({ field, answered }: Open, error: string): { error: string } {
    if (++this.#wrong > MAX_WRONG) answered({ action: 'decline' });
    else this.#show(field, undefined, answered, error);
    return { error };
  }
}
