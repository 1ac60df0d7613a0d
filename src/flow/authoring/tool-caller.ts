// Who calls tools for the steps of flows: a gateway, or a client that is connected to a server.
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../protocol/message.ts';

export interface ToolCaller {
  callTool(name: string, args?: JsonObject, options?: ToolCallerOptions): Promise<CallToolResult>;
}

export interface ToolCallerOptions {
  signal?: AbortSignal;
  /** In whose name, where the caller can tell one from another: that of the session's owner, as a hash. */
  principal?: string;
}

/** Given when it is first needed, where it cannot be given at once: a gateway that has these very flows behind it, for example. */
export type ToolCallerOption = ToolCaller | (() => ToolCaller | Promise<ToolCaller>);

/** The result of a tool whose structured content is known to be a `T`. */
export type ToolAnswer<T> = CallToolResult & { structuredContent: T };
