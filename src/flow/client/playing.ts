// One session, from its first question to its end. At most one question is open: a new one takes its place. After a refused answer the
// server mostly asks again itself; if it does not in time, the same question is asked here.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Prompt } from '../question/question.ts';
import type { FlowOutcome } from './flow-client.ts';
import { CANCEL } from './play-options.ts';
import type { PlayOptions, PromptContext } from './play-options.ts';
import { precheck, wordsOf } from './precheck.ts';
import type { Prompts, Told } from './prompts.ts';

interface Session {
  started: JsonObject;
  prompts: Prompts;
  request(method: string, params: JsonObject): Promise<JsonObject>;
}

const RETRY_PROMPT_MS = 500;
const FIRST_LOOK_MS = 2000;
const MAX_LOOK_MS = 10_000;
const ENDS = new Set(['completed', 'cancelled', 'error']);

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
    let told = await this.#next();
    let problem: PromptContext['problem'];
    while (told.kind === 'prompt') {
      const { prompt, progress } = told;
      const answer = (wrong: PromptContext['problem']) => this.#options.onPrompt(prompt, { progress, problem: wrong });
      const value = await precheck(prompt, this.#options, answer, problem);
      if (value === CANCEL) return this.#cancel();
      const answered = await this.#respond(prompt, value);
      problem = problemOf(answered);
      if (problem) this.#options.onFeedback?.(wordsOf(problem));
      told = problem ? ((await prompts.within(RETRY_PROMPT_MS)) ?? told) : await this.#next(prompt.promptId);
    }
    return toOutcome(told);
  }

  /** What comes after an answer. A server that says nothing for a while is asked: it may have said so to nobody. */
  async #next(answered?: string): Promise<Told> {
    const { prompts } = this.#session;
    let isOver = false;
    for (let ms = FIRST_LOOK_MS; ; ms = Math.min(ms * 2, MAX_LOOK_MS)) {
      const told = await prompts.within(ms);
      if (told) return told;
      const { state, currentPrompt: prompt } = await this.#session.request('interaction.getState', this.#reference());
      if (isObject(prompt) && prompt.promptId !== answered) return { kind: 'prompt', prompt } as never;
      if (isOver) return { kind: 'end', result: { success: state === 'completed' }, summary: undefined };
      // How it ended is known to whoever is told; that may be under way.
      isOver = ENDS.has(String(state));
    }
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

function toOutcome({ result, summary }: Extract<Told, { kind: 'end' }>): FlowOutcome {
  return { result: result.data, success: result.success !== false, summary, interactive: true };
}
