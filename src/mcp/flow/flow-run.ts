// Plays one session from its first question to its end. At most one question is open: a new one replaces it. After a
// refused answer the server usually asks again; if it does not in time, the same question is asked here.
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../kernel/message.ts';
import { isObject } from '../../kernel/message.ts';
import { FLOW_CANCEL, FLOW_PROMPT, FLOW_RESPOND, FLOW_STATE } from '../../kernel/methods.ts';
import type { Prompt, PromptStep } from '../../kernel/form/prompt.ts';
import { ProtocolError } from '../../kernel/base/errors.ts';
import type { ServerSessionEvent, PromptInbox, PromptOrEnd } from './prompt-inbox.ts';

/** Returned by `onPrompt` when the person does not want to continue. */
export const CANCEL: unique symbol = Symbol('cancel');

/** Returned by `onPrompt` when the person does not answer this question. The tool decides what follows: a confirmation is not given, an optional answer is left out. */
export const DECLINE: unique symbol = Symbol('decline');

/** Why an answer was refused. */
interface Problem {
  error: string;
  suggestion?: string | undefined;
}

export interface PromptContext {
  progress?: PromptStep | undefined;
  /** What was wrong with the last answer. */
  problem?: Problem | undefined;
  /** Aborts when the question is closed: it or its session expired, or it was answered elsewhere. */
  signal?: AbortSignal | undefined;
}

export interface PromptHandlers {
  /** Answers a question; DECLINE leaves it without an answer, CANCEL ends the session. */
  onPrompt(prompt: Prompt, context: PromptContext): unknown;
  /** Receives messages about problems. */
  onFeedback?: ((text: string) => void) | undefined;
}

export interface FlowOutcome {
  /** The tool's own result. */
  result: unknown;
  success: boolean;
  summary?: string | undefined;
  /** The server's error. */
  error?: unknown;
  /** False if the server is not interactive and the tool was called directly. */
  interactive: boolean;
  /** True if the person did not want to continue. */
  cancelled?: boolean | undefined;
}

interface Session {
  started: JsonObject;
  prompts: PromptInbox;
  request(method: string, params: JsonObject): Promise<JsonObject>;
  /** Resolves when the connection that carries the server's prompts is lost. */
  lost?: (() => Promise<unknown>) | undefined;
}

type Asked = Extract<PromptOrEnd, { kind: 'prompt' }>;

/** The next prompt or the end, and what was wrong with the last answer. */
interface Turn {
  told: PromptOrEnd;
  problem?: Problem | undefined;
}

const RETRY_PROMPT_MS = 500;
const FIRST_LOOK_MS = 2000;
const MAX_LOOK_MS = 10_000;
/** The pause between two checks whether a question is still open. It doubles up to the maximum. */
const MIN_PAUSE_MS = 100;
/** Longer timers would fire at once. */
const MAX_PAUSE_MS = 86_400_000;
const INVALID_TRANSITION = -32003;
const SESSION_EXPIRED = -32002;
const LATE = 'The question was not answered in time.';
const NOT_OPEN = 'The question is not asked any more.';
const ENDS = new Set(['completed', 'cancelled', 'error']);

export class FlowRun {
  readonly #session: Session;
  readonly #person: PromptHandlers;
  #token: unknown;

  constructor(session: Session, person: PromptHandlers) {
    this.#session = session;
    this.#person = person;
  }

  async play(): Promise<FlowOutcome> {
    const { started, prompts } = this.#session;
    this.#hear(started);
    const { initialPrompt: prompt, lookAgainMs } = started;
    if (isObject(prompt)) prompts.hear(FLOW_PROMPT, { prompt, lookAgainMs });
    let turn: Turn | undefined = { told: await this.#next() };
    while (turn?.told.kind === 'prompt') turn = await this.#turn(turn.told, turn.problem);
    return turn ? toOutcome(turn.told) : this.#cancel();
  }

  /** Undefined if the person does not want to continue. */
  async #turn(asked: Asked, before: Problem | undefined): Promise<Turn | undefined> {
    const given = await this.#ask(asked, before);
    if ('told' in given) return given;
    if (given.value === CANCEL) return undefined;
    const { prompt } = asked;
    let answered: JsonObject;
    try {
      answered = await this.#respond(prompt, given.value);
    } catch (thrown) {
      return { told: await this.#late(thrown, prompt) };
    }
    const problem = problemOf(answered);
    if (!problem) return { told: await this.#next(prompt.promptId) };
    this.#person.onFeedback?.(describeRefusal(problem));
    return { told: (await this.#session.prompts.within(RETRY_PROMPT_MS)) ?? asked, problem };
  }

  /** The answer, or the event that replaced the question, which is then withdrawn. */
  async #ask(asked: Asked, problem: Problem | undefined): Promise<{ value: unknown } | { told: PromptOrEnd }> {
    const { prompt, progress } = asked;
    const withdrawal = new AbortController();
    const { signal } = withdrawal;
    const answer = (async () => this.#person.onPrompt(prompt, { progress, problem, signal }))();
    const stopLooking = this.#lookOut(asked);
    const given = await this.#session.prompts
      .during(answer, (heard) => isInsteadOf(prompt, heard))
      .finally(() => stopLooking());
    if ('value' in given) return given;
    answer.catch(() => {}); // no longer needed
    withdrawal.abort();
    const { heard } = given;
    this.#person.onFeedback?.(whyWithdrawn(heard));
    if (heard.kind !== 'withdrawn') return { told: heard };
    return { told: await this.#next(prompt.promptId, asked.lookAgainMs === undefined ? FIRST_LOOK_MS : MIN_PAUSE_MS) };
  }

  /** Checks whether the question is still open, if the server asked for that. The returned function stops it. */
  #lookOut({ prompt, lookAgainMs }: Asked): () => void {
    const looking = new AbortController();
    if (typeof lookAgainMs === 'number') {
      // A failing server shows when it is answered.
      this.#keepLooking(prompt, lookAgainMs, looking.signal).catch(() => {});
    }
    return () => looking.abort();
  }

  async #keepLooking(prompt: Asked['prompt'], firstMs: number, signal: AbortSignal): Promise<void> {
    const { prompts } = this.#session;
    let ms: unknown = firstMs;
    for (let least = MIN_PAUSE_MS; typeof ms === 'number'; least = Math.min(least * 2, MAX_LOOK_MS)) {
      await sleep(Math.min(Math.max(ms, least), MAX_PAUSE_MS), undefined, { signal });
      const seen = await this.#look().catch(expired);
      if (signal.aborted) return;
      if (!seen.told) return prompts.withdraw({ kind: 'withdrawn', promptId: prompt.promptId });
      if (isInsteadOf(prompt, seen.told)) return prompts.tell(seen.told);
      ms = seen.told.kind === 'prompt' ? seen.told.lookAgainMs : undefined;
    }
  }

  /** What follows an answer. A server that stays silent is asked, because its message may have got lost. */
  async #next(answered?: string, firstMs = FIRST_LOOK_MS): Promise<PromptOrEnd> {
    const { prompts } = this.#session;
    let isOver = false;
    for (let ms = firstMs; ; ms = Math.min(ms * 2, MAX_LOOK_MS)) {
      const told = await prompts.within(ms, this.#session.lost?.());
      if (told) return told;
      const { told: seen, state } = await this.#look();
      if (seen?.kind === 'end' || (seen && seen.prompt.promptId !== answered)) return seen;
      if (isOver) return { kind: 'end', result: { success: state === 'completed' }, summary: undefined };
      // The message with the outcome may still be on its way.
      isOver = ENDS.has(String(state));
    }
  }

  async #look(): Promise<{ told: PromptOrEnd | undefined; state: unknown }> {
    const seen = await this.#session.request(FLOW_STATE, this.#reference());
    const { state, currentPrompt: prompt, lookAgainMs, result, summary } = seen;
    if (isObject(result)) return { told: { kind: 'end', result, summary } as PromptOrEnd, state }; // kept until the client has received it
    if (!isObject(prompt)) return { told: undefined, state };
    return { told: { kind: 'prompt', prompt, lookAgainMs } as unknown as PromptOrEnd, state };
  }

  async #respond({ promptId }: Prompt & { promptId?: string }, value: unknown): Promise<JsonObject> {
    const isDeclined = value === DECLINE;
    const metadata = isDeclined ? { action: 'decline' } : {};
    const response = { value: isDeclined ? null : value, timestamp: Date.now(), metadata };
    const answered = await this.#session.request(FLOW_RESPOND, {
      ...this.#reference(),
      response,
      ...(promptId !== undefined && { promptId }),
    });
    this.#hear(answered);
    return answered;
  }

  /** The answer may have crossed the end of its question. */
  async #late(thrown: unknown, prompt: Asked['prompt']): Promise<PromptOrEnd> {
    if (!(thrown instanceof ProtocolError) || thrown.code !== INVALID_TRANSITION) throw thrown;
    const heard = await this.#session.prompts.within(RETRY_PROMPT_MS);
    // A server that restarted repeats its open question; that repeat says nothing about the state of now.
    const told = heard && isInsteadOf(prompt, heard) ? heard : (await this.#look()).told;
    if (told && !isInsteadOf(prompt, told)) throw thrown;
    this.#person.onFeedback?.(told ? whyWithdrawn(told) : NOT_OPEN);
    return told ?? this.#next(prompt.promptId);
  }

  async #cancel(): Promise<FlowOutcome> {
    await this.#session.request(FLOW_CANCEL, { ...this.#reference(), reason: 'User cancelled' });
    return { result: undefined, success: false, interactive: true, cancelled: true };
  }

  #reference(): JsonObject {
    const { sessionId } = this.#session.started;
    return this.#token === undefined ? { sessionId } : { sessionId, token: this.#token };
  }

  /** A server that cannot send messages puts the next prompt into its answers. */
  #hear({ token, next }: JsonObject): void {
    if (token !== undefined) this.#token = token;
    if (!isObject(next)) return;
    this.#session.prompts.hear(typeof next.method === 'string' ? next.method : FLOW_PROMPT, next);
  }
}

/** A prompt without an id may be the same one again. */
function isInsteadOf({ promptId }: Asked['prompt'], heard: ServerSessionEvent): boolean {
  if (heard.kind === 'end') return true;
  if (promptId === undefined) return false;
  if (heard.kind === 'withdrawn') return heard.promptId === promptId;
  return heard.prompt.promptId !== undefined && heard.prompt.promptId !== promptId;
}

/** The end of an expired session, as clients that receive messages get it. */
function expired(thrown: unknown): { told: PromptOrEnd; state: unknown } {
  if (!(thrown instanceof ProtocolError) || thrown.code !== SESSION_EXPIRED) throw thrown;
  const error = { name: 'FLOW_SESSION_EXPIRED', message: thrown.message };
  return { told: { kind: 'end', result: { success: false, error }, summary: thrown.message }, state: 'error' };
}

function whyWithdrawn(told: ServerSessionEvent): string {
  if (told.kind === 'prompt') return NOT_OPEN;
  if (told.kind === 'withdrawn') return told.reason === 'timeout' ? LATE : NOT_OPEN;
  const { error } = told.result;
  const message = isObject(error) ? error.message : told.summary;
  return typeof message === 'string' ? message : 'The session has ended.';
}

export function describeRefusal({ error, suggestion }: Problem): string {
  return suggestion === undefined ? error : `${error}. ${suggestion}`;
}

function problemOf({ accepted, validation }: JsonObject): Problem | undefined {
  if (accepted !== false) return undefined;
  const { error, suggestion } = isObject(validation) ? validation : {};
  return { error: String(error ?? 'Not accepted'), ...(typeof suggestion === 'string' && { suggestion }) };
}

function toOutcome({ result, summary }: Extract<PromptOrEnd, { kind: 'end' }>): FlowOutcome {
  const { data, success, error } = result;
  return {
    result: data,
    success: success !== false,
    summary,
    interactive: true,
    ...(error !== undefined && { error }),
  };
}
