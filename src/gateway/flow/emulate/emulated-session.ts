// A tool that is called for a client that speaks MCP Flow: the session it sees while the call runs. The call lives here and now, so
// the session ends with the gateway, with its client, and when nobody answers in time.
// 1. States and refusals are those of the Flow document; once it has ended nothing of what was asked and answered is kept, but for how it ended,
//    until its client has acknowledged that.
// 2. `tell` is called for every prompt and, once, for the end.
import type { JsonObject } from '../../../protocol/message.ts';
import { present } from '../../../protocol/message.ts';
import type { Ask, Progress } from '../../../protocol/exchange.ts';
import type { Clock } from '../../../shared/clock.ts';
import { canonicalJson } from '../../../shared/canonical-json.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { lazyCrypto } from '../../../shared/crypto/lazy-crypto.ts';
import { PromptQueue } from './prompt-queue.ts';
import type { PromptResponse, PromptReference } from './prompt-queue.ts';
import type { SessionMessage } from '../play/upstream-flow-sessions.ts';
import type { UnacknowledgedOutcomes } from './unacknowledged-outcomes.ts';

export type EmulatedState = 'idle' | 'active' | 'waiting_user' | 'processing' | 'completed' | 'cancelled' | 'error';

export interface EmulatedSessionOptions {
  id: string;
  tool: string;
  principal: string;
  timeoutMs: number;
  clock: Clock;
  tell: (told: SessionMessage) => void;
  /** Where it is kept how it ended. */
  outcomes: UnacknowledgedOutcomes;
  /** Its time is over. */
  expired: () => void;
  /** The server has taken its question back. */
  withdrawn: (promptId: string) => void;
  /** There is not much time left. */
  warn: (remainingMs: number) => void;
  /** Nothing more will become of it. */
  onEnd: () => void;
}

/** The last fifth of the time, and no more than this. */
const MAX_WARNING_MS = 30_000;

export class EmulatedSession {
  readonly options: EmulatedSessionOptions;
  readonly #createdAt: number;
  readonly #controller = new AbortController();
  /** However it has ended: nothing is asked any more. */
  readonly #over = new AbortController();
  #asked: PromptQueue;
  #state: EmulatedState = 'idle';
  #isExpired = false;
  /** Fingerprint of the last answer that was taken. */
  #answered: string | undefined;
  #lastActivityAt: number;
  #step: JsonObject | undefined;
  #stopTimers = (): void => {};

  constructor(options: EmulatedSessionOptions) {
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

  respond(given: PromptResponse, meant: PromptReference): JsonObject {
    const { promptId } = meant;
    this.check();
    if (this.#isAgain(given, promptId)) return { accepted: true, validation: { valid: true } };
    if (this.#state !== 'waiting_user') throw this.#wrongState('no prompt is open');
    this.touch();
    const answered = toFingerprint(given, promptId ?? this.#asked.current?.promptId);
    const refused = this.#asked.respond(given, meant, this.options.clock.now());
    if (refused) return { accepted: false, validation: { valid: false, ...refused } };
    this.#answered = answered;
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
    const { id: sessionId, outcomes } = this.options;
    const outcome = { result, ...(summary !== undefined && { summary }) };
    outcomes.keep(sessionId, outcome);
    this.#tellEnd(outcome);
  }

  /** Where it stands, for a client that has sent its start again. */
  again(): JsonObject | undefined {
    const outcome = this.options.outcomes.get(this.options.id);
    if (outcome) this.#tellEnd(outcome);
    return this.#asked.current;
  }

  /** Its client knows how it ended. */
  acknowledge(): void {
    this.options.outcomes.forget(this.options.id);
  }

  view(): JsonObject {
    if (this.#isExpired) this.check();
    const { id: sessionId, tool: toolName, outcomes } = this.options;
    const { history, data, current } = this.#asked;
    const times = { createdAt: this.#createdAt, lastActivityAt: this.#lastActivityAt, expiresAt: this.expiresAt };
    return {
      sessionId,
      state: this.#state,
      metadata: { ...times, toolName },
      history: history.map((turn) => ({ ...turn })),
      ...(current && { currentPrompt: current }),
      accumulatedData: data,
      ...outcomes.get(sessionId),
    };
  }

  /** Something was done with it: its time starts again. */
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
    this.options.expired();
    this.#end('error');
    this.#controller.abort();
  }

  /** The same answer to the same prompt, of a client that did not hear what became of it. */
  #isAgain(given: PromptResponse, promptId: string | undefined): boolean {
    if (promptId === undefined || this.#answered !== toFingerprint(given, promptId)) return false;
    if (!this.hasEnded) return true;
    const outcome = this.options.outcomes.get(this.options.id);
    if (outcome) this.#tellEnd(outcome);
    return outcome !== undefined;
  }

  #tellEnd(outcome: JsonObject): void {
    const { id: sessionId, tell } = this.options;
    tell({ method: 'interaction.complete', params: { sessionId, ...outcome } });
  }

  #end(state: EmulatedState): void {
    this.#state = state;
    this.#stopTimers();
    this.#over.abort();
    this.#asked = this.#freshlyAsked();
    this.options.onEnd();
  }

  #freshlyAsked(): PromptQueue {
    return new PromptQueue({
      tell: (prompt, step) => this.#tellPrompt(prompt, step),
      // Its end says that it asks nothing any more.
      withdrawn: (promptId) => !this.hasEnded && this.options.withdrawn(promptId),
    });
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

function toFingerprint(given: PromptResponse, promptId: unknown): string {
  const said = 'action' in given ? given : { value: given.value }; // sent again, it may be said to be of another time
  const text = canonicalJson([promptId ?? null, said]);
  return lazyCrypto().createHash('sha256').update(text).digest('base64url');
}
