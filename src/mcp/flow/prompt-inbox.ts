// Receives a server's prompts for one session. A new prompt replaces one that still waits, and the end of the session
// is the last event.
import type { JsonObject } from '../../kernel/message.ts';
import { isObject } from '../../kernel/message.ts';
import { FLOW_COMPLETE, FLOW_ENDED, FLOW_WITHDRAWN } from '../../kernel/methods.ts';
import type { Prompt, PromptStep } from '../../kernel/form/prompt.ts';
import { unlessLate } from '../../kernel/base/timing.ts';
import { systemClock } from '../../kernel/base/clock.ts';

export type PromptOrEnd =
  | {
      kind: 'prompt';
      prompt: Prompt & { promptId?: string };
      progress?: PromptStep | undefined;
      /** The server cannot report a withdrawal, so check after this time. */
      lookAgainMs?: number | undefined;
    }
  | { kind: 'end'; result: JsonObject; summary: string | undefined };

/** A withdrawn question that nothing has replaced yet. */
interface WithdrawnPrompt {
  kind: 'withdrawn';
  promptId: unknown;
  reason?: unknown;
}

export type ServerSessionEvent = PromptOrEnd | WithdrawnPrompt;

/** The second is a notification that the session, or a question it depends on, has expired. */
const ENDS = new Set([FLOW_COMPLETE, FLOW_ENDED]);

/** Notifications about a session. */
export const NOTICES: ReadonlySet<string> = new Set([FLOW_ENDED, FLOW_WITHDRAWN]);

export class PromptInbox {
  #told: PromptOrEnd | undefined;
  #waiting: { isFor: (heard: ServerSessionEvent) => boolean; resolve: (heard: ServerSessionEvent) => void } | undefined;
  #isEnded = false;

  /** Handles a server's message and returns the answer to it. */
  hear(method: string, params: JsonObject): JsonObject {
    const { prompt = params.nextPrompt, progress, result, summary, lookAgainMs } = params;
    if (ENDS.has(method)) {
      this.tell({ kind: 'end', result: isObject(result) ? result : {}, summary } as PromptOrEnd);
    } else if (method === FLOW_WITHDRAWN)
      this.withdraw({ kind: 'withdrawn', promptId: params.promptId, reason: params.reason });
    else if (isObject(prompt)) this.tell({ kind: 'prompt', prompt, progress, lookAgainMs } as unknown as PromptOrEnd);
    return toAcknowledged(method, params);
  }

  tell(told: PromptOrEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = told.kind === 'end';
    if (!this.#give(told)) this.#told = told;
  }

  /** The prompt may not have been shown yet. */
  withdraw(withdrawn: WithdrawnPrompt): void {
    if (this.#give(withdrawn) || this.#told?.kind !== 'prompt') return;
    if (this.#told.prompt.promptId === withdrawn.promptId) this.#told = undefined;
  }

  next(): Promise<PromptOrEnd> {
    return this.#next((heard) => heard.kind !== 'withdrawn') as Promise<PromptOrEnd>;
  }

  /** Resolves with the result of the work, or with an earlier event that `isFor` accepts. */
  async during<T>(
    work: Promise<T>,
    isFor: (heard: ServerSessionEvent) => boolean,
  ): Promise<{ value: T } | { heard: ServerSessionEvent }> {
    try {
      return await Promise.race([work.then((value) => ({ value })), this.#next(isFor).then((heard) => ({ heard }))]);
    } finally {
      this.#waiting = undefined;
    }
  }

  /** False if nothing waits for it. */
  #give(heard: ServerSessionEvent): boolean {
    const waiting = this.#waiting;
    if (!waiting?.isFor(heard)) return false;
    this.#waiting = undefined;
    waiting.resolve(heard);
    return true;
  }

  #next(isFor: (heard: ServerSessionEvent) => boolean): Promise<ServerSessionEvent> {
    const told = this.#told;
    if (!told || !isFor(told)) return new Promise((resolve) => (this.#waiting = { isFor, resolve }));
    this.#told = undefined;
    return Promise.resolve(told);
  }

  /** Undefined if nothing arrives in time or the connection is lost. */
  async within(ms: number, lost?: Promise<unknown>): Promise<PromptOrEnd | undefined> {
    const gone = lost ? [lost.then(() => undefined)] : [];
    const told = await unlessLate(Promise.race([this.next(), ...gone]), systemClock, ms);
    // Later events are for the next caller.
    if (!told) this.#waiting = undefined;
    return told;
  }
}

/** A client's answer to a session message. */
export function toAcknowledged(method: string, { result }: JsonObject): JsonObject {
  if (method !== FLOW_COMPLETE) return { acknowledged: true };
  const { data } = isObject(result) ? result : {};
  return { success: true, finalResult: isObject(data) ? data : {} };
}
