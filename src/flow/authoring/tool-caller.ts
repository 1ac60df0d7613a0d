// What calls tools for the steps of flows: a gateway, or a connected client.
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../protocol/message.ts';

export interface ToolCaller {
  callTool(name: string, args?: JsonObject, options?: ToolCallerOptions): Promise<CallToolResult>;
}

interface ToolCallerOptions {
  signal?: AbortSignal;
  /** The principal to call as, where callers are told apart: a hash of the session's owner. */
  principal?: string;
}

/** May be a function that is called at first use, for example if the gateway serves these flows itself. */
export type ToolCallerOption = ToolCaller | (() => ToolCaller | Promise<ToolCaller>);

/** The result of a tool with structured content of type `T`. */
export type ToolAnswer<T> = CallToolResult & { structuredContent: T };
