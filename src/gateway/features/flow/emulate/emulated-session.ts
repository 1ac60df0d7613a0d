// The session that an MCP Flow client sees while an ordinary tool is called for it. The call lives in memory, so the
// session ends with the gateway, with its client, or when nobody answers in time.
// 1. States and refusals follow the Flow specification (docs/flow-protocol.md). After the end only the outcome is kept,
//    until the client has acknowledged it.
// 2. `tell` is called for every prompt and once for the end.
import type { Ask, Progress } from '../../../../kernel/exchange.ts';
import { canonicalExactly } from '../../../../kernel/raw/canonical-exactly.ts';
import { saysUnproven } from '../../../../kernel/form/human-marks.ts';
import { readResponse } from '../../../../kernel/form/prompt.ts';
import { isUnacknowledged } from '../../../../kernel/interaction.ts';
import { present, readOptionalString, toInvalid } from '../../../../kernel/message.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import {
  FLOW_CANCEL,
  FLOW_COMPLETE,
  FLOW_CONTINUE,
  FLOW_EXTEND,
  FLOW_PROMPT,
  FLOW_RESPOND,
  FLOW_STATE,
} from '../../../../kernel/methods.ts';
import { CancelledByPeer } from '../../../../kernel/base/cancellation.ts';
import type { Clock } from '../../../../kernel/base/clock.ts';
import { sha256 } from '../../../../kernel/crypto/lazy-crypto.ts';
import { GatewayError } from '../../../../kernel/base/errors.ts';
import { transition } from '../../../../mcp/flow/flow-states.ts';
import type { FlowState, StateEvent } from '../../../../mcp/flow/flow-states.ts';
import type { SessionMessage } from '../../../servers/flow/upstream-flow-sessions.ts';
import type { UnacknowledgedOutcomes } from './unacknowledged-outcomes.ts';
import { PromptQueue } from './prompt-queue.ts';
import type { PromptResponse, PromptReference } from './prompt-queue.ts';

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
  #state: FlowState = 'idle';
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
    this.#touch();
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

  /** Answers a client's request about the session. Requests that only a tool's owner may make are refused. */
  handle(method: string, params: JsonObject): JsonObject {
    switch (method) {
      case FLOW_RESPOND:
        return this.respond(readGiven(params), {
          promptId: readOptionalString(params, 'promptId'),
          isUnacknowledged: isUnacknowledged(params),
          isUnproven: saysUnproven(params),
        });
      case FLOW_CANCEL:
        this.cancel(new CancelledByPeer(present({ reason: readOptionalString(params, 'reason') })));
        return { cancelled: true };
      case FLOW_STATE:
        return this.view();
      case FLOW_EXTEND:
        if (this.#isExpired || this.#state === 'cancelled') this.#next('cancel'); // throws
        this.#touch();
        return { extended: true, expiresAt: this.expiresAt };
      case FLOW_CONTINUE:
      case FLOW_COMPLETE: {
        const { id: sessionId } = this.options;
        const reason = 'the tool goes on itself';
        throw new GatewayError('FLOW_INVALID_TRANSITION', { sessionId, state: 'called', reason });
      }
      default:
        throw new GatewayError('METHOD_NOT_FOUND', { method });
    }
  }

  async ask(ask: Ask, signal: AbortSignal = this.signal): Promise<JsonObject> {
    try {
      const answer = await this.#asked.ask(ask, AbortSignal.any([signal, this.#over.signal]));
      ask.onAnswered?.('interaction');
      return answer;
    } finally {
      // The server may have withdrawn its question.
      if (this.#state === 'waiting_user' && !this.#asked.current) this.#state = this.#next('withdraw');
    }
  }

  /** Sent with the next prompt. */
  progress({ progress, total, message }: Progress): void {
    this.#step = present({ current: progress, total, message });
  }

  respond(given: PromptResponse, meant: PromptReference): JsonObject {
    const { promptId } = meant;
    if (this.#isAgain(given, promptId)) return { accepted: true, validation: { valid: true } };
    const next = this.#next('respond', 'no prompt is open');
    this.#touch();
    const answered = toFingerprint(given, promptId ?? this.#asked.current?.promptId);
    const refused = this.#asked.respond(given, meant, this.options.clock.now());
    if (refused) return { accepted: false, validation: { valid: false, ...refused } };
    this.#answered = answered;
    this.#state = next;
    return { accepted: true, validation: { valid: true } };
  }

  /** `reason`: why, for the call. */
  cancel(reason: unknown): void {
    this.#end(this.#next('cancel', 'it has ended'), reason);
  }

  /** The call has ended. */
  complete(result: JsonObject, summary: string | undefined): void {
    if (this.hasEnded) return;
    this.#prepareMove();
    this.#end(this.#next(result.success === false ? 'fail' : 'complete'));
    const { id: sessionId, tell, outcomes } = this.options;
    const outcome = { result, ...(summary !== undefined && { summary }) };
    outcomes.keep(sessionId, outcome);
    tell({ method: FLOW_COMPLETE, params: { sessionId, ...outcome } }); // also one that is too large to be kept
  }

  /** The current state, for a client that repeats its start. */
  again(): JsonObject | undefined {
    this.#tellOutcome();
    return this.#asked.current;
  }

  /** The client has acknowledged the outcome. */
  acknowledge(): void {
    this.options.outcomes.forget(this.options.id);
  }

  view(): JsonObject {
    if (this.#isExpired) this.#next('cancel'); // throws
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
  #touch(): void {
    const { clock, timeoutMs, warn } = this.options;
    this.#lastActivityAt = clock.now();
    this.#stopTimers();
    if (this.hasEnded) return;
    const leftMs = Math.min(timeoutMs / 5, MAX_WARNING_MS);
    const stops = [
      clock.after(timeoutMs - leftMs, () => this.#state === 'waiting_user' && warn(leftMs)),
      clock.after(timeoutMs, () => this.#onTime()),
    ];
    this.#stopTimers = () => stops.forEach((stop) => stop());
  }

  #next(event: StateEvent, why?: string): FlowState {
    const reason = this.#isExpired ? 'expired' : undefined;
    return transition({ id: this.options.id, state: this.#state, reason }, event, why);
  }

  /** A tool asks and ends when it wants to: its first act begins the session, and the next one withdraws an open question. */
  #prepareMove(): void {
    if (this.#state === 'idle') this.#state = this.#next('begin');
    if (this.#state === 'waiting_user') this.#state = this.#next('withdraw');
  }

  /** No timeout while the tool works: the user cannot act. */
  #onTime(): void {
    if (this.#state !== 'waiting_user') return this.#touch();
    this.#isExpired = true;
    this.options.expired();
    this.#end(this.#next('expire'), new DOMException('Nobody answered in time', 'TimeoutError'));
  }

  /** Whether the client repeats its last answer because it did not receive our reply. */
  #isAgain(given: PromptResponse, promptId: string | undefined): boolean {
    if (promptId === undefined || this.#answered !== toFingerprint(given, promptId)) return false;
    return !this.hasEnded || this.#tellOutcome();
  }

  /** Sends the outcome again. Returns false if none is kept: the session has no outcome, or the client has acknowledged it. */
  #tellOutcome(): boolean {
    const { id: sessionId, tell, outcomes } = this.options;
    const outcome = outcomes.get(sessionId);
    if (outcome) tell({ method: FLOW_COMPLETE, params: { sessionId, ...outcome } });
    return outcome !== undefined;
  }

  /** The session is remembered after its end, and its signals and timers lead to the whole call: it lets go of them. With a reason, the call ends, too. */
  #end(state: FlowState, reason?: unknown): void {
    const [call, session] = [this.#controller, this.#over];
    this.#controller = this.#over = toAborted();
    this.#state = state;
    this.#stopTimers();
    this.#stopTimers = () => {};
    session.abort(reason);
    this.#asked = this.#freshlyAsked();
    this.options.onEnd();
    if (reason !== undefined) call.abort(reason);
  }

  #freshlyAsked(): PromptQueue {
    return new PromptQueue({
      tell: (prompt, step) => this.#tellPrompt(prompt, step),
      // The end of the session implies it.
      withdrawn: (promptId) => !this.hasEnded && this.options.withdrawn(promptId),
    });
  }

  #tellPrompt(prompt: JsonObject, step = this.#step): void {
    this.#prepareMove();
    this.#state = this.#next('prompt');
    this.#touch();
    this.#step = undefined;
    const { id: sessionId } = this.options;
    this.options.tell({ method: FLOW_PROMPT, params: { sessionId, prompt, ...(step && { progress: step }) } });
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
  const text = canonicalExactly([promptId ?? null, said]);
  return sha256(text, 'base64url');
}

/** A client may decline one question without ending the session. */
function readGiven(params: JsonObject): PromptResponse {
  const { response, ...about } = readResponse(params);
  const { action } = about.meta ?? {};
  if (action === 'decline' || action === 'cancel') return { action };
  if (!('value' in response)) throw toInvalid('response.value', 'Required parameter missing');
  return { value: response.value, ...about };
}
