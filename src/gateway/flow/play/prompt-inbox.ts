// What a server asks of a session, one after the other: a new question takes the place of one that still waits. The end of the
// session is the last that is told.
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { Prompt, PromptStep } from '../../../protocol/prompt.ts';

export type PromptOrEnd =
  | {
      kind: 'prompt';
      prompt: Prompt & { promptId?: string };
      progress?: PromptStep | undefined;
      /** The server cannot tell when the question is withdrawn: after so long it is worth to look. */
      lookAgainMs?: number | undefined;
    }
  | { kind: 'end'; result: JsonObject; summary: string | undefined };

/** A question is not open any more, and nothing has taken its place yet. */
export interface WithdrawnPrompt {
  kind: 'withdrawn';
  promptId: unknown;
  reason?: unknown;
}

export type ServerSessionEvent = PromptOrEnd | WithdrawnPrompt;

/** The second is a notification: its time was over, or that of a question without which it cannot go on. */
const ENDS = new Set(['interaction.complete', 'interaction.ended']);
const WITHDRAWN = 'interaction.withdrawn';

/** What a server says of a session without wanting an answer. */
export const NOTICES: ReadonlySet<string> = new Set(['interaction.ended', WITHDRAWN]);

export class PromptInbox {
  #told: PromptOrEnd | undefined;
  #waiting: { isFor: (heard: ServerSessionEvent) => boolean; resolve: (heard: ServerSessionEvent) => void } | undefined;
  #isEnded = false;

  /** Takes in what a server says of the session, and gives what it is answered with. */
  hear(method: string, params: JsonObject): JsonObject {
    const { prompt = params.nextPrompt, progress, result, summary, lookAgainMs } = params;
    if (ENDS.has(method)) {
      this.tell({ kind: 'end', result: isObject(result) ? result : {}, summary } as PromptOrEnd);
    } else if (method === WITHDRAWN)
      this.withdraw({ kind: 'withdrawn', promptId: params.promptId, reason: params.reason });
    else if (isObject(prompt)) this.tell({ kind: 'prompt', prompt, progress, lookAgainMs } as unknown as PromptOrEnd);
    return toAcknowledged(method, params);
  }

  tell(told: PromptOrEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = told.kind === 'end';
    if (!this.#give(told)) this.#told = told;
  }

  /** Nobody may have been asked yet. */
  withdraw(withdrawn: WithdrawnPrompt): void {
    if (this.#give(withdrawn) || this.#told?.kind !== 'prompt') return;
    if (this.#told.prompt.promptId === withdrawn.promptId) this.#told = undefined;
  }

  next(): Promise<PromptOrEnd> {
    return this.#next((heard) => heard.kind !== 'withdrawn') as Promise<PromptOrEnd>;
  }

  /** What the work gives, or what is heard before that, if it is the kind of thing that ends the waiting for it. */
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

  /** False where nobody waits for it. */
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

  /** Undefined when nothing is told in time, or the connection is lost meanwhile. */
  async within(ms: number, lost?: Promise<unknown>): Promise<PromptOrEnd | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
    const gone = lost ? [lost.then(() => undefined)] : [];
    const told = await Promise.race([this.next(), late, ...gone]);
    clearTimeout(timer);
    // Whatever is told from now on is for the next one who asks.
    if (!told) this.#waiting = undefined;
    return told;
  }
}

/** What a client answers to being told of a session. */
export function toAcknowledged(method: string, { result }: JsonObject): JsonObject {
  if (method !== 'interaction.complete') return { acknowledged: true };
  const { data } = isObject(result) ? result : {};
  return { success: true, finalResult: isObject(data) ? data : {} };
}
