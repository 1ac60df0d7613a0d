// Remembers what lists said of tools. Beyond a limit, those that were listed first are forgotten and looked up again.
import { BoundedMap } from './containers/bounded-map.ts';
import { isObject } from './message.ts';
import type { JsonObject } from './message.ts';

/** More than a model can tell apart. */
const MAX_TOOLS = 10_000;

interface ToolFact {
  inputSchema: JsonObject | undefined;
  annotations: JsonObject;
  taskSupport: 'required' | 'optional' | undefined;
  hasOutputSchema: boolean;
}

export class ToolFacts {
  readonly #tools = new BoundedMap<string, ToolFact>(MAX_TOOLS);
  /** The list has changed since. */
  #isStale = true;

  /** A list of a single page is complete, so it replaces everything known. */
  learn(result: JsonObject, isFirst: boolean): void {
    if (!Array.isArray(result.tools)) return;
    const isWhole = isFirst && result.nextCursor === undefined;
    if (isWhole) this.clear();
    for (const tool of result.tools) if (isObject(tool)) this.note(String(tool.name), tool);
    if (result.nextCursor === undefined) this.#isStale = false;
  }

  /** Learns one tool, under a name of the caller's choice. */
  note(name: string, { inputSchema, annotations, execution, outputSchema }: JsonObject): void {
    const support = isObject(execution) ? execution.taskSupport : undefined;
    this.#tools.set(name, {
      inputSchema: isObject(inputSchema) ? inputSchema : undefined,
      annotations: isObject(annotations) ? annotations : {},
      taskSupport: support === 'required' || support === 'optional' ? support : undefined,
      hasOutputSchema: outputSchema !== undefined,
    });
  }

  get(name: string): ToolFact | undefined {
    return this.#tools.peek(name);
  }

  forget(name: string): void {
    this.#tools.delete(name);
  }

  clear(): void {
    this.#tools.clear();
  }

  outdate(): void {
    this.#isStale = true;
  }

  /** Whether the list has to be fetched to know this tool. */
  misses(name: string): boolean {
    return this.#isStale && !this.#tools.peek(name);
  }
}
