// How requests reach sessions: in a store by their id, or in a token that the client sends.
import { GatewayError } from '../../shared/errors.ts';
import type { StartRequest } from '../session/verbs/requests.ts';
import type { Sessions } from '../session/sessions.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { StateView } from '../session/view.ts';
import type { TokenTurn, TokenSessions } from '../token/token-sessions.ts';

/** The session that a request names. */
export interface SessionReference {
  principal: string;
  sessionId: string;
  token: string | undefined;
}

export interface SessionAccess {
  readonly sessions: Sessions;
  /** Sessions are in a store, so they can continue without a request. */
  readonly keeps: boolean;
  start(request: StartRequest): Promise<TokenTurn>;
  /** `act` carries out the request. */
  go(reference: SessionReference, act: (sessionId: string, sessions: Sessions) => Promise<Turn>): Promise<TokenTurn>;
  getState(reference: SessionReference): Promise<StateView>;
  /** The client knows how the session ended. */
  acknowledge(sessionId: string): Promise<void>;
}

export function createStoredAccess(sessions: Sessions): SessionAccess {
  return {
    sessions,
    keeps: true,
    start: async (request) => ({ turn: await sessions.start(request) }),
    go: async ({ sessionId }, act) => ({ turn: await act(sessionId, sessions) }),
    getState: ({ principal, sessionId }) => sessions.getState({ principal, sessionId }),
    acknowledge: (sessionId) => sessions.acknowledge(sessionId),
  };
}

/** Only the token knows the tool of a session, so every tool is tried. */
export function createTokenAccess(tokenSessions: TokenSessions): SessionAccess {
  const { sessions } = tokenSessions;
  const bearerOf = (principal: string, tool: string) => ({ principal, tool, method: 'interaction' });
  const opened = async <T>(
    { principal, sessionId, token }: SessionReference,
    open: (tool: string) => Promise<T>,
  ): Promise<T> => {
    const unknown = new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
    if (token === undefined || principal === '') throw unknown;
    for (const tool of sessions.flows.keys()) {
      try {
        return await open(tool);
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown;
        if (thrown.code !== 'FLOW_SESSION_NOT_FOUND') throw inWordsOf(sessionId, thrown);
      }
    }
    throw unknown;
  };
  return {
    sessions,
    keeps: false,
    start: (request) => tokenSessions.start(request, bearerOf(request.principal, request.tool)),
    go: (reference, act) =>
      opened(reference, (tool) =>
        tokenSessions.go(reference.token!, bearerOf(reference.principal, tool), ({ id }, carried) =>
          act(meant(reference, id), carried),
        ),
      ),
    getState: (reference) =>
      opened(reference, async (tool) => {
        const view = await tokenSessions.getState(reference.token!, bearerOf(reference.principal, tool));
        meant(reference, view.header.id);
        return view;
      }),
    acknowledge: (sessionId) => tokenSessions.acknowledge(sessionId),
  };
}

/** A token is valid for its own session only. */
function meant({ sessionId }: SessionReference, id: string): string {
  if (sessionId === id) return id;
  throw new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
}

/** Errors name the session by the id that the client knows. */
function inWordsOf(sessionId: string, error: GatewayError): GatewayError {
  return new GatewayError(error.code, { ...error.details, sessionId });
}
