// The message types of MCP Flow 0.1.0. They extend the request type of the official SDK, so that its clients and servers can use them.
import type { Request } from '@modelcontextprotocol/client';
import type { Prompt, PromptStep } from '../kernel/form/prompt.ts';
import type {
  FLOW_CANCEL,
  FLOW_COMPLETE,
  FLOW_CONTINUE,
  FLOW_PROMPT,
  FLOW_RESPOND,
  FLOW_START,
  FLOW_STATE,
} from '../kernel/methods.ts';

/** Names a session. Ids cannot be guessed, and are opaque to clients. */
export type SessionId = string;

export interface InteractionStartRequest extends Request {
  method: typeof FLOW_START;
  params: {
    toolName: string;
    initialParams?: { [key: string]: unknown };
    context?: { [key: string]: unknown };
    timeout?: number;
  };
}

export interface InteractionPromptRequest extends Request {
  method: typeof FLOW_PROMPT;
  params: {
    sessionId: SessionId;
    prompt: Prompt;
    progress?: PromptStep;
    /** After this time a client that cannot receive requests checks whether the question is still open. Not in MCP Flow 0.1.0. */
    lookAgainMs?: number;
  };
}

export interface InteractionRespondRequest extends Request {
  method: typeof FLOW_RESPOND;
  params: {
    sessionId: SessionId;
    response: { value: unknown; timestamp?: number; metadata?: { [key: string]: unknown } };
    /** The prompt that is answered. Not in MCP Flow 0.1.0. */
    promptId?: string;
  };
}

export interface InteractionContinueRequest extends Request {
  method: typeof FLOW_CONTINUE;
  params: {
    sessionId: SessionId;
    nextPrompt?: Prompt;
    progress?: PromptStep;
    lookAgainMs?: number;
  };
}

export interface InteractionCompleteRequest extends Request {
  method: typeof FLOW_COMPLETE;
  params: { sessionId: SessionId; result: { success: boolean; data?: unknown }; summary?: string };
}

export interface InteractionCancelRequest extends Request {
  method: typeof FLOW_CANCEL;
  params: { sessionId: SessionId; reason?: string };
}

export interface InteractionGetStateRequest extends Request {
  method: typeof FLOW_STATE;
  params: { sessionId: SessionId };
}
