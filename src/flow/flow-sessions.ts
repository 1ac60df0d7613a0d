// The sessions of flows as programs use them. Nothing else of `Sessions` and `TokenSessions` is promised.
import type { AnyFlow } from './define.ts';
import type { Header } from './journal.ts';
import type { DeliveryResult } from './session/external/deliver-event.ts';
import type { SessionOptions } from './session/context/session-context.ts';
import type { SessionEvent } from './session/turn/session-event.ts';
import { Sessions } from './session/sessions.ts';
import type { Turn } from './session/turn/turn.ts';
import type {
  AnswerRequest,
  BackRequest,
  CancelRequest,
  DeliverRequest,
  EditRequest,
  HandOverRequest,
  SessionRequest,
  StartRequest,
} from './session/context/requests.ts';
import type { StateView } from './session/verbs/view.ts';
import { TokenSessions } from './token/token-sessions.ts';
import type { Bearer, TokenSessionsOptions, TokenTurn } from './token/token-sessions.ts';

export interface FlowSessions {
  start(request: StartRequest): Promise<Turn>;
  answer(request: AnswerRequest): Promise<Turn>;
  /** Takes back the last answer, or all answers from a key on. */
  back(request: BackRequest): Promise<Turn>;
  /** Changes an earlier answer. Later answers that are still valid stay. */
  edit(request: EditRequest): Promise<Turn>;
  /** Gives the user more time. */
  extend(request: SessionRequest): Promise<Turn>;
  cancel(request: CancelRequest): Promise<Turn>;
  /** Hands a question that a person was asked to another person. */
  handOver(request: HandOverRequest): Promise<Turn>;
  /** Delivers an event that a flow waits for, or will wait for (`ask.event`). */
  deliver(request: DeliverRequest): Promise<DeliveryResult>;
  getState(request: SessionRequest): Promise<StateView>;
  /** Open sessions of a principal, oldest first. */
  list(principal: string): Promise<Header[]>;
  /** Calls the listener for events that no request caused, until the returned function is called. */
  on(listener: (event: SessionEvent) => void): () => void;
  /** Handles all sessions that are due now, which otherwise happens when they are due. */
  sweep(): Promise<void>;
  /** Leaves running sessions to another process. */
  close(): Promise<void>;
}

/** Sessions without a server, for programs that ask by themselves. The class behind it has more members, which are not public. */
export const FlowSessions: new (flows: Iterable<AnyFlow>, options?: SessionOptions) => FlowSessions = Sessions;

/** Sessions whose state travels in a token with each request. */
export interface TokenFlowSessions {
  /** `onEvent` receives events during the request. */
  start(request: StartRequest, bearer: Bearer, onEvent?: (event: SessionEvent) => void): Promise<TokenTurn>;
  /** Continues the session of a token: `act` carries out the request. */
  go(token: string, bearer: Bearer, act: (header: Header, sessions: FlowSessions) => Promise<Turn>): Promise<TokenTurn>;
  getState(token: string, bearer: Bearer): Promise<StateView>;
  /** The client knows how the session ended. */
  acknowledge(sessionId: string): Promise<void>;
}

export const TokenFlowSessions: new (flows: Iterable<AnyFlow>, options: TokenSessionsOptions) => TokenFlowSessions =
  TokenSessions;
