// What the lists said of a server's tools: for whoever approves a call, and for whether it can run as a task.
import type { Tool } from '@modelcontextprotocol/client';
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';

export class ListedTools {
  #tools = new Map<string, Tool>();

  learn(tools: Tool[]): void {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  annotations(name: string): Tool['annotations'] {
    return this.#tools.get(name)?.annotations;
  }

  /** Whether to ask for a task: when the caller wants one and the tool can, or when it runs no other way. */
  asTask(name: string, wanted: boolean): boolean {
    const tool = this.#tools.get(name);
    if (!tool) return wanted;
    const { taskSupport } = (tool as { execution?: { taskSupport?: string } }).execution ?? {};
    return taskSupport === 'required' || (wanted && taskSupport === 'optional');
  }
}

/** A tool that can be called at all: its input must be an object. */
export function isTool({ name, inputSchema }: JsonObject): boolean {
  if (typeof name !== 'string' || name === '' || !isObject(inputSchema)) return false;
  const { type = 'object', properties = {}, required = [] } = inputSchema;
  return type === 'object' && isObject(properties) && Array.isArray(required);
}
