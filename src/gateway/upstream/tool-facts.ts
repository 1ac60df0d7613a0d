// Remembers what the last tool lists said of a server's tools: their input schemas and whether they run as tasks.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

interface Known {
  inputSchema: JsonObject | undefined;
  taskSupport: unknown;
}

export class ToolFacts {
  #tools = new Map<string, Known>();
  /** The list has changed since. */
  #isStale = true;

  /** A list of a single page is complete, so it replaces everything known. */
  learn(result: JsonObject, isFirst: boolean): void {
    if (!Array.isArray(result.tools)) return;
    const isWhole = isFirst && result.nextCursor === undefined;
    if (isWhole) this.#tools.clear();
    for (const tool of result.tools) if (isObject(tool)) this.#tools.set(String(tool.name), toKnown(tool));
    if (result.nextCursor === undefined) this.#isStale = false;
  }

  outdate(): void {
    this.#isStale = true;
  }

  /** Whether the list has to be fetched to know this tool. */
  misses(name: string): boolean {
    return this.#isStale && !this.#tools.has(name);
  }

  inputSchema(name: string): JsonObject | undefined {
    return this.#tools.get(name)?.inputSchema;
  }

  taskSupport(name: string): 'required' | 'optional' | undefined {
    const support = this.#tools.get(name)?.taskSupport;
    return support === 'required' || support === 'optional' ? support : undefined;
  }
}

function toKnown({ inputSchema, execution }: JsonObject): Known {
  return {
    inputSchema: isObject(inputSchema) ? inputSchema : undefined,
    taskSupport: isObject(execution) ? execution.taskSupport : undefined,
  };
}
