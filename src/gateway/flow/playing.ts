// One session, from its first question to its end. At most one question is open: a new one takes its place. After a refused answer the
// server mostly asks again itself; if it does not in time, the same question is asked here.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Prompt, Step } from '../../protocol/prompt.ts';
import type { Prompts, Told } from './prompts.ts';

/** What `onPrompt` gives when the person does not want to go on. */
export const CANCEL: unique symbol = Symbol('cancel');

/** Why an answer was refused. */
interface Problem {
  error: string;
  suggestion?: string | undefined;
}

export interface PromptContext {
  progress?: Step | undefined;
  /** What was wrong with the last answer. */
  problem?: Problem | undefined;
}

export interface Person {
  /** Answers a question; CANCEL ends the session. */
  onPrompt(prompt: Prompt, context: PromptContext): unknown;
  /** Is told what went wrong. */
  onFeedback?: ((text: string) => void) | undefined;
}

export interface FlowOutcome {
  /** The tool's own result. */
  result: unknown;
  success: boolean;
  summary?: string | undefined;
  /** What the server says of its failure. */
  error?: unknown;
  /** False where the server is not interactive and the tool was just called. */
  interactive: boolean;
  /** True when the person did not want to go on. */
  cancelled?: boolean | undefined;
}

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
  readonly #person: Person;
  #token: unknown;

  constructor(session: Session, person: Person) {
    this.#session = session;
    this.#person = person;
  }

  async play(): Promise<FlowOutcome> {
    const { started, prompts } = this.#session;
    this.#hear(started);
    if (isObject(started.initialPrompt)) prompts.hear('interaction.prompt', { prompt: started.initialPrompt });
    let told = await this.#next();
    let problem: Problem | undefined;
    while (told.kind === 'prompt') {
      const { prompt, progress } = told;
      const value = await this.#person.onPrompt(prompt, { progress, problem });
      if (value === CANCEL) return this.#cancel();
      const answered = await this.#respond(prompt, value);
      problem = problemOf(answered);
      if (problem) this.#person.onFeedback?.(wordsOf(problem));
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
      const seen = await this.#session.request('interaction.getState', this.#reference());
      const { state, currentPrompt: prompt, result, summary } = seen;
      if (isObject(result)) return { kind: 'end', result, summary } as Told; // kept for a client that has not received it
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
    this.#session.prompts.hear(typeof next.method === 'string' ? next.method : 'interaction.prompt', next);
  }
}

export function wordsOf({ error, suggestion }: Problem): string {
  return suggestion === undefined ? error : `${error}. ${suggestion}`;
}

function problemOf({ accepted, validation }: JsonObject): Problem | undefined {
  if (accepted !== false) return undefined;
  const { error, suggestion } = isObject(validation) ? validation : {};
  return { error: String(error ?? 'Not accepted'), ...(typeof suggestion === 'string' && { suggestion }) };
}

function toOutcome({ result, summary }: Extract<Told, { kind: 'end' }>): FlowOutcome {
  const { data, success, error } = result;
  return {
    result: data,
    success: success !== false,
    summary,
    interactive: true,
    ...(error !== undefined && { error }),
  };
}
