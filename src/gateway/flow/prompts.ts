// What a server asks of a session, one after the other: a new question takes the place of one that still waits. The end of the
// session is the last that is told.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Prompt, Step } from '../../protocol/prompt.ts';

export type Told =
  | { kind: 'prompt'; prompt: Prompt & { promptId?: string }; progress?: Step | undefined }
  | { kind: 'end'; result: JsonObject; summary: string | undefined };

/** The second is a notification: its time was over, or that of a question without which it cannot go on. */
const ENDS = new Set(['interaction.complete', 'interaction.ended']);

export class Prompts {
  #told: Told | undefined;
  #waiting: { isFor: (told: Told) => boolean; resolve: (told: Told) => void } | undefined;
  #isEnded = false;

  /** Takes in what a server says of the session, and gives what it is answered with. */
  hear(method: string, params: JsonObject): JsonObject {
    const { prompt = params.nextPrompt, progress, result, summary } = params;
    if (ENDS.has(method)) {
      this.tell({ kind: 'end', result: isObject(result) ? result : {}, summary } as Told);
    } else if (isObject(prompt)) this.tell({ kind: 'prompt', prompt, progress } as unknown as Told);
    return toAcknowledged(method, params);
  }

  tell(told: Told): void {
    if (this.#isEnded) return;
    this.#isEnded = told.kind === 'end';
    const waiting = this.#waiting;
    if (!waiting?.isFor(told)) {
      this.#told = told;
      return;
    }
    this.#waiting = undefined;
    waiting.resolve(told);
  }

  next(): Promise<Told> {
    return this.#next(() => true);
  }

  /** What the work gives, or what is told before that, if it is the kind of thing that ends the waiting for it. */
  async during<T>(work: Promise<T>, isFor: (told: Told) => boolean): Promise<{ value: T } | { told: Told }> {
    try {
      return await Promise.race([work.then((value) => ({ value })), this.#next(isFor).then((told) => ({ told }))]);
    } finally {
      this.#waiting = undefined;
    }
  }

  #next(isFor: (told: Told) => boolean): Promise<Told> {
    const told = this.#told;
    if (!told || !isFor(told)) return new Promise((resolve) => (this.#waiting = { isFor, resolve }));
    this.#told = undefined;
    return Promise.resolve(told);
  }

  /** Undefined when nothing is told in time. */
  async within(ms: number): Promise<Told | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
    const told = await Promise.race([this.next(), late]);
    clearTimeout(timer);
    // Whatever is told from now on is for whoever asks next.
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
