// The message types of MCP Flow 0.1.0. They extend the request type of the official SDK, so that its clients and servers can use them.
import type { Request } from '@modelcontextprotocol/client';
import type { Prompt, PromptStep } from '../kernel/form/prompt.ts';

/** Names a session. Ids cannot be guessed, and are opaque to clients. */
export type SessionId = string;

export interface InteractionStartRequest extends Request {
  method: 'interaction.start';
  params: {
    toolName: string;
    initialParams?: { [key: string]: unknown };
    context?: { [key: string]: unknown };
    timeout?: number;
  };
}

export interface InteractionPromptRequest extends Request {
  method: 'interaction.prompt';
  params: {
    sessionId: SessionId;
    prompt: Prompt;
    progress?: PromptStep;
    /** After this time a client that cannot receive requests checks whether the question is still open. Not in MCP Flow 0.1.0. */
    lookAgainMs?: number;
  };
}

export interface InteractionRespondRequest extends Request {
  method: 'interaction.respond';
  params: {
    sessionId: SessionId;
    response: { value: unknown; timestamp?: number; metadata?: { [key: string]: unknown } };
    /** The prompt that is answered. Not in MCP Flow 0.1.0. */
    promptId?: string;
  };
}

export interface InteractionContinueRequest extends Request {
  method: 'interaction.continue';
  params: {
    sessionId: SessionId;
    nextPrompt?: Prompt;
    progress?: PromptStep;
    lookAgainMs?: number;
  };
}

export interface InteractionCompleteRequest extends Request {
  method: 'interaction.complete';
  params: { sessionId: SessionId; result: { success: boolean; data?: unknown }; summary?: string };
}

export interface InteractionCancelRequest extends Request {
  method: 'interaction.cancel';
  params: { sessionId: SessionId; reason?: string };
}

export interface InteractionGetStateRequest extends Request {
  method: 'interaction.getState';
  params: { sessionId: SessionId };
}
