// Remembers the listed tools of a server, for approvals and to know which can run as a task.
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

  /** Whether to request a task: if the caller wants one and the tool supports it, or if the tool requires it. */
  asTask(name: string, wanted: boolean): boolean {
    const tool = this.#tools.get(name);
    if (!tool) return wanted;
    const { taskSupport } = (tool as { execution?: { taskSupport?: string } }).execution ?? {};
    return taskSupport === 'required' || (wanted && taskSupport === 'optional');
  }
}

/** Whether the tool can be called: its input must be an object. */
export function isTool({ name, inputSchema }: JsonObject): boolean {
  if (typeof name !== 'string' || name === '' || !isObject(inputSchema)) return false;
  const { type = 'object', properties = {}, required = [] } = inputSchema;
  return type === 'object' && isObject(properties) && Array.isArray(required);
}
