// One session, from its first question to its end. At most one question is open: a new one takes its place. After a refused answer the
// server mostly asks again itself; if it does not in time, the same question is asked here.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Prompt, Step } from '../question/question.ts';
import type { FlowOutcome } from './flow-client.ts';
import type { Prompts, Told } from './prompts.ts';

/** What `onPrompt` gives when the person does not want to go on. */
export const CANCEL: unique symbol = Symbol('cancel');

export interface PromptContext {
  progress?: Step | undefined;
  /** What was wrong with the last answer. */
  problem?: { error: string; suggestion?: string | undefined } | undefined;
}

export interface PlayOptions {
  /** Answers a question; CANCEL ends the session. */
  onPrompt(prompt: Prompt, context: PromptContext): unknown;
  /** Tells the person what went wrong. */
  onFeedback?: ((text: string) => void) | undefined;
  context?: JsonObject | undefined;
  timeout?: number | undefined;
}

interface Session {
  started: JsonObject;
  prompts: Prompts;
  request(method: string, params: JsonObject): Promise<JsonObject>;
}

const RETRY_PROMPT_MS = 500;

export class Playing {
  readonly #session: Session;
  readonly #options: PlayOptions;
  #token: unknown;

  constructor(session: Session, options: PlayOptions) {
    this.#session = session;
    this.#options = options;
  }

  async play(): Promise<FlowOutcome> {
    const { started, prompts } = this.#session;
    this.#hear(started);
    if (isObject(started.initialPrompt)) prompts.tell({ kind: 'prompt', prompt: started.initialPrompt } as never);
    let told = await prompts.next();
    let problem: PromptContext['problem'];
    while (told.kind === 'prompt') {
      const value = await this.#options.onPrompt(told.prompt, { progress: told.progress, problem });
      if (value === CANCEL) return this.#cancel();
      const answered = await this.#respond(told.prompt, value);
      problem = problemOf(answered);
      if (problem) this.#options.onFeedback?.(wordsOf(problem));
      told = problem ? ((await prompts.within(RETRY_PROMPT_MS)) ?? told) : await prompts.next();
    }
    return toOutcome(told);
  }

  async #respond({ promptId }: Prompt & { promptId?: string }, value: unknown): Promise<JsonObject> {
    const response = { value, timestamp: Date.now(), metadata: {} };
    const answered = await this.#session.request('interaction.respond', {
      ...this.#reference(),
      response,
      ...(promptId !== undefined && { promptId }),
    });
    this.#hear(answered);
    return answered;
  }

  async #cancel(): Promise<FlowOutcome> {
    await this.#session.request('interaction.cancel', { ...this.#reference(), reason: 'User cancelled' });
    return { result: undefined, success: false, interactive: true, cancelled: true };
  }

  #reference(): JsonObject {
    const { sessionId } = this.#session.started;
    return this.#token === undefined ? { sessionId } : { sessionId, token: this.#token };
  }

  /** A server that cannot tell us things puts what comes next into its answers. */
  #hear({ token, next }: JsonObject): void {
    if (token !== undefined) this.#token = token;
    if (!isObject(next)) return;
    const { method, prompt = next.nextPrompt, progress, result, summary } = next;
    if (method === 'interaction.complete') {
      this.#session.prompts.tell({ kind: 'end', result: isObject(result) ? result : {}, summary } as Told);
    } else if (isObject(prompt)) this.#session.prompts.tell({ kind: 'prompt', prompt, progress } as never);
  }
}

function problemOf({ accepted, validation }: JsonObject): PromptContext['problem'] {
  if (accepted !== false) return undefined;
  const { error, suggestion } = isObject(validation) ? validation : {};
  return { error: String(error ?? 'Not accepted'), ...(typeof suggestion === 'string' && { suggestion }) };
}

function wordsOf({ error, suggestion }: NonNullable<PromptContext['problem']>): string {
  return suggestion === undefined ? error : `${error}. ${suggestion}`;
}

function toOutcome({ result, summary }: Extract<Told, { kind: 'end' }>): FlowOutcome {
  return { result: result.data, success: result.success !== false, summary, interactive: true };
}
