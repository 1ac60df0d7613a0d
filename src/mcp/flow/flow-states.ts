// The states of a session of MCP Flow 0.1.0, for our own flows and for tools that are called for Flow clients: the next state, or the error,
// for each event.
import type { ErrorCode } from '../../kernel/base/error-table.ts';
import { GatewayError } from '../../kernel/base/errors.ts';

export const InteractionState = {
  IDLE: 'idle',
  ACTIVE: 'active',
  WAITING_USER: 'waiting_user',
  PROCESSING: 'processing',
  COMPLETED: 'completed',
  CANCELLED: 'cancelled',
  ERROR: 'error',
} as const;
export type InteractionState = (typeof InteractionState)[keyof typeof InteractionState];
export type FlowState = InteractionState;

/** `withdraw`: the asker takes its question back. */
export type StateEvent =
  | 'begin'
  | 'prompt'
  | 'respond'
  | 'reject'
  | 'withdraw'
  | 'complete'
  | 'cancel'
  | 'fail'
  | 'expire';

type Reaction = FlowState | ErrorCode;

const LATE = {
  respond: 'FLOW_INVALID_TRANSITION',
  reject: 'FLOW_INVALID_TRANSITION',
  cancel: 'FLOW_INVALID_TRANSITION',
} as const;
const GONE = {
  respond: 'FLOW_ALREADY_CANCELLED',
  reject: 'FLOW_ALREADY_CANCELLED',
  cancel: 'FLOW_ALREADY_CANCELLED',
} as const;
const OPEN = { cancel: 'cancelled', fail: 'error', expire: 'error' } as const;
const UNASKED = { respond: 'FLOW_INVALID_TRANSITION', reject: 'FLOW_INVALID_TRANSITION' } as const;

export const TRANSITIONS: Record<FlowState, Partial<Record<StateEvent, Reaction>>> = {
  idle: { ...OPEN, ...UNASKED, begin: 'active' },
  active: { ...OPEN, ...UNASKED, prompt: 'waiting_user', complete: 'completed' },
  waiting_user: { ...OPEN, respond: 'processing', reject: 'waiting_user', withdraw: 'processing' },
  processing: { ...OPEN, ...UNASKED, prompt: 'waiting_user', complete: 'completed' },
  completed: LATE,
  cancelled: GONE,
  error: LATE,
};

/** Returns the next state, or throws; `why` says why an event does not fit the state. */
export function transition(
  { id, state, reason }: { id: string; state: FlowState; reason?: string | undefined },
  event: StateEvent,
  why = `it cannot ${event} now`,
): FlowState {
  const reaction = TRANSITIONS[state][event];
  if (reaction !== undefined && reaction in TRANSITIONS) return reaction as FlowState;
  if (state === 'error' && reason === 'expired') throw new GatewayError('FLOW_SESSION_EXPIRED', { sessionId: id });
  if (reaction === 'FLOW_ALREADY_CANCELLED') throw new GatewayError(reaction, { sessionId: id });
  throw new GatewayError('FLOW_INVALID_TRANSITION', { sessionId: id, state, reason: why });
}
