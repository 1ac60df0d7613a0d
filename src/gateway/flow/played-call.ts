// A tool that is called for a client that speaks MCP Flow: the session it sees while the call runs. The call lives here and now, so
// the session ends with the gateway, with its client, and when nobody answers in time.
// 1. States and refusals are those of the Flow document; once it has ended nothing of what was asked and answered is kept.
// 2. `tell` is called for every prompt and, once, for the end.
import type { JsonObject } from '../../protocol/message.ts';
import { present } from '../../protocol/message.ts';
import type { Ask, Progress } from '../../protocol/exchange.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import { AskedSession } from './asked-session.ts';
import type { Given } from './asked-session.ts';
import type { Told } from './flow-sessions.ts';

export type State = 'idle' | 'active' | 'waiting_user' | 'processing' | 'completed' | 'cancelled' | 'error';

export interface PlayedCallOptions {
  id: string;
  tool: string;
  principal: string;
  timeoutMs: number;
  clock: Clock;
  tell: (told: Told) => void;
  /** There is not much time left. */
  warn: (remainingMs: number) => void;
  /** Nothing more will become of it. */
  onEnd: () => void;
}

/** The last fifth of the time, and no more than this. */
const MAX_WARNING_MS = 30_000;

export class PlayedCall {
  readonly options: PlayedCallOptions;
  readonly #createdAt: number;
  readonly #controller = new AbortController();
  /** However it has ended: nothing is asked any more. */
  readonly #over = new AbortController();
  #asked: AskedSession;
  #state: State = 'idle';
  #isExpired = false;
  #lastActivityAt: number;
  #step: JsonObject | undefined;
  #stopTimers = (): void => {};

  constructor(options: PlayedCallOptions) {
    this.options = options;
    this.#createdAt = this.#lastActivityAt = options.clock.now();
    this.#asked = this.#freshlyAsked();
    this.touch();
  }

  /** Aborted when the client, or its silence, has ended it. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get hasEnded(): boolean {
    return this.#state === 'completed' || this.#state === 'cancelled' || this.#state === 'error';
  }

  get expiresAt(): number {
    return this.#lastActivityAt + this.options.timeoutMs;
  }

  async ask(ask: Ask, signal: AbortSignal = this.signal): Promise<JsonObject> {
    try {
      const answer = await this.#asked.ask(ask, AbortSignal.any([signal, this.#over.signal]));
      ask.onAnswered?.('interaction');
      return answer;
    } finally {
      // The server may have taken its question back.
      if (this.#state === 'waiting_user' && !this.#asked.current) this.#state = 'processing';
    }
  }

  /** Told with the next prompt. */
  progress({ progress, total, message }: Progress): void {
    this.#step = present({ current: progress, total, message });
  }

  respond(given: Given, promptId: string | undefined): JsonObject {
    this.check();
    if (this.#state !== 'waiting_user') throw this.#wrongState('no prompt is open');
    this.touch();
    const refused = this.#asked.respond(given, promptId, this.options.clock.now());
    if (refused) return { accepted: false, validation: { valid: false, ...refused } };
    if (!this.#asked.current) this.#state = 'processing';
    return { accepted: true, validation: { valid: true } };
  }

  cancel(): void {
    this.check();
    if (this.hasEnded) throw this.#wrongState('it has ended');
    this.#end('cancelled');
    this.#controller.abort();
  }

  /** The call has come to its end. */
  complete(result: JsonObject, summary: string | undefined): void {
    if (this.hasEnded) return;
    this.#end(result.success === false ? 'error' : 'completed');
    const { id: sessionId } = this.options;
    const params = { sessionId, result, ...(summary !== undefined && { summary }) };
    this.options.tell({ method: 'interaction.complete', params });
  }

  view(): JsonObject {
    if (this.#isExpired) this.check();
    const { id: sessionId, tool: toolName } = this.options;
    const { history, data, current } = this.#asked;
    const times = { createdAt: this.#createdAt, lastActivityAt: this.#lastActivityAt, expiresAt: this.expiresAt };
    return {
      sessionId,
      state: this.#state,
      metadata: { ...times, toolName },
      history: history.map((turn) => ({ ...turn })),
      ...(current && { currentPrompt: current }),
      accumulatedData: data,
    };
  }

  /** Something was done with it: its time begins anew. */
  touch(): void {
    const { clock, timeoutMs, warn } = this.options;
    this.#lastActivityAt = clock.now();
    this.#stopTimers();
    const leftMs = Math.min(timeoutMs / 5, MAX_WARNING_MS);
    const stops = [
      clock.after(timeoutMs - leftMs, () => this.#state === 'waiting_user' && warn(leftMs)),
      clock.after(timeoutMs, () => this.#onTime()),
    ];
    this.#stopTimers = () => stops.forEach((stop) => stop());
  }

  /** Throws where it cannot be gone on with. */
  check(): void {
    const { id: sessionId } = this.options;
    if (this.#isExpired) throw new GatewayError('FLOW_SESSION_EXPIRED', { sessionId });
    if (this.#state === 'cancelled') throw new GatewayError('FLOW_ALREADY_CANCELLED', { sessionId });
  }

  /** While the tool works nobody can blame the user. */
  #onTime(): void {
    if (this.#state !== 'waiting_user') return this.touch();
    this.#isExpired = true;
    this.#end('error');
    this.#controller.abort();
  }

  #end(state: State): void {
    this.#state = state;
    this.#stopTimers();
    this.#over.abort();
    this.#asked = this.#freshlyAsked();
    this.options.onEnd();
  }

  #freshlyAsked(): AskedSession {
    return new AskedSession((prompt, step) => this.#tellPrompt(prompt, step));
  }

  #tellPrompt(prompt: JsonObject, step = this.#step): void {
    this.#state = 'waiting_user';
    this.touch();
    this.#step = undefined;
    const { id: sessionId } = this.options;
    this.options.tell({ method: 'interaction.prompt', params: { sessionId, prompt, ...(step && { progress: step }) } });
  }

  #wrongState(reason: string): GatewayError {
    return new GatewayError('FLOW_INVALID_TRANSITION', { sessionId: this.options.id, state: this.#state, reason });
  }
}
