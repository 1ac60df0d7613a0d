// The session that an MCP Flow client sees while an ordinary tool is called for it. The call lives in memory, so the
// session ends with the gateway, with its client, or when nobody answers in time.
// 1. States and refusals follow the Flow specification (docs/flow-protocol.md). After the end only the outcome is kept,
//    until the client has acknowledged it.
// 2. `tell` is called for every prompt and once for the end.
import type { JsonObject } from '../../../protocol/message.ts';
import { present } from '../../../protocol/message.ts';
import type { Ask, Progress } from '../../../protocol/exchange.ts';
import type { Clock } from '../../../shared/clock.ts';
import { canonicalJson } from '../../../shared/canonical-json.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { sha256 } from '../../../shared/crypto/lazy-crypto.ts';
import { PromptQueue } from './prompt-queue.ts';
import type { PromptResponse, PromptReference } from './prompt-queue.ts';
import type { SessionMessage } from '../play/upstream-flow-sessions.ts';
import type { UnacknowledgedOutcomes } from './unacknowledged-outcomes.ts';

export type EmulatedState = 'idle' | 'active' | 'waiting_user' | 'processing' | 'completed' | 'cancelled' | 'error';

export interface EmulatedSessionOptions {
  id: string;
  tool: string;
  principal: string;
  /** Who has it, for the limit: clients without a login share a principal. */
  caller: string;
  timeoutMs: number;
  clock: Clock;
  tell: (told: SessionMessage) => void;
  /** Keeps the outcome until it is acknowledged. */
  outcomes: UnacknowledgedOutcomes;
  /** The session has timed out. */
  expired: () => void;
  /** The server has withdrawn its question. */
  withdrawn: (promptId: string) => void;
  /** The timeout is near. */
  warn: (remainingMs: number) => void;
  /** The session has ended. */
  onEnd: () => void;
}

/** Warn in the last fifth of the timeout, at most this long before its end. */
const MAX_WARNING_MS = 30_000;

export class EmulatedSession {
  readonly options: EmulatedSessionOptions;
  readonly #createdAt: number;
  #controller = new AbortController();
  /** Aborts when the session ends, in any way. */
  #over = new AbortController();
  #asked: PromptQueue;
  #state: EmulatedState = 'idle';
  #isExpired = false;
  /** The fingerprint of the last accepted answer. */
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

  /** Aborts when the client ends the session or lets it time out. */
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
      // The server may have withdrawn its question.
      if (this.#state === 'waiting_user' && !this.#asked.current) this.#state = 'processing';
    }
  }

  /** Sent with the next prompt. */
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
    this.#end('cancelled', true);
  }

  /** The call has ended. */
  complete(result: JsonObject, summary: string | undefined): void {
    if (this.hasEnded) return;
    this.#end(result.success === false ? 'error' : 'completed');
    const { id: sessionId, outcomes } = this.options;
    const outcome = { result, ...(summary !== undefined && { summary }) };
    outcomes.keep(sessionId, outcome);
    this.#tellEnd(outcome);
  }

  /** The current state, for a client that repeats its start. */
  again(): JsonObject | undefined {
    const outcome = this.options.outcomes.get(this.options.id);
    if (outcome) this.#tellEnd(outcome);
    return this.#asked.current;
  }

  /** The client has acknowledged the outcome. */
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

  /** Restarts the timeout after any action. */
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

  /** Throws if the session cannot continue. */
  check(): void {
    const { id: sessionId } = this.options;
    if (this.#isExpired) throw new GatewayError('FLOW_SESSION_EXPIRED', { sessionId });
    if (this.#state === 'cancelled') throw new GatewayError('FLOW_ALREADY_CANCELLED', { sessionId });
  }

  /** No timeout while the tool works: the user cannot act. */
  #onTime(): void {
    if (this.#state !== 'waiting_user') return this.touch();
    this.#isExpired = true;
    this.options.expired();
    this.#end('error', true);
  }

  /** Whether the client repeats its last answer because it did not receive our reply. */
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

  /** The session is remembered after its end, and its signals and timers lead to the whole call: it lets go of them. */
  #end(state: EmulatedState, stopsCall = false): void {
    const [call, session] = [this.#controller, this.#over];
    this.#controller = this.#over = toAborted();
    this.#state = state;
    this.#stopTimers();
    this.#stopTimers = () => {};
    session.abort();
    this.#asked = this.#freshlyAsked();
    this.options.onEnd();
    if (stopsCall) call.abort();
  }

  #freshlyAsked(): PromptQueue {
    return new PromptQueue({
      tell: (prompt, step) => this.#tellPrompt(prompt, step),
      // The end of the session implies it.
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

/** The reason is text: an error would keep its stack, and what ran there. */
function toAborted(): AbortController {
  const controller = new AbortController();
  controller.abort('ended');
  return controller;
}

function toFingerprint(given: PromptResponse, promptId: unknown): string {
  const said = 'action' in given ? given : { value: given.value }; // a repeated answer may carry another time
  const text = canonicalJson([promptId ?? null, said]);
  return sha256(text, 'base64url');
}
