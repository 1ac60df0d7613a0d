// Remembers the listed tools of a server: for approvals, to know which can run as a task, and to check structured results against the listed
// output schema. An unusable schema is logged and checks nothing, as the tool may work anyway.
import type { Tool, CallToolResult } from '@modelcontextprotocol/client';
import { checkWithJsonSchema, toReason } from '../../kernel/json-schema.ts';
import type { SchemaVerdict } from '../../kernel/json-schema.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Log } from '../../kernel/base/log.ts';

type Check = (value: unknown) => SchemaVerdict;

/** The server chooses the size of a schema, and compiling costs time and memory. */
const MAX_SCHEMA_CHARS = 100_000;

export class ListedTools {
  readonly #log: Log;
  #tools = new Map<string, Tool>();
  /** By the listed definition, as each list brings new ones. `check` is undefined without a usable schema. */
  readonly #checks = new WeakMap<Tool, { check: Check | undefined }>();

  constructor(log: Log) {
    this.#log = log;
  }

  learn(tools: Tool[]): void {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
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

  /** The problem of a result, if there is one. A failed tool need not match its schema. */
  problem(name: string, result: CallToolResult): string | undefined {
    const tool = this.#tools.get(name);
    const { outputSchema } = (tool ?? {}) as { outputSchema?: unknown };
    if (!tool || !isObject(outputSchema) || result.isError) return undefined;
    if (result.structuredContent === undefined) return `${name} answered without the structured content it promised`;
    const verdict = this.#check(tool, outputSchema)?.(result.structuredContent);
    if (!verdict?.problems) return undefined;
    return `${name} answered with structured content that breaks its schema: ${toReason(verdict.problems)}`;
  }

  #check(tool: Tool, schema: JsonObject): Check | undefined {
    let known = this.#checks.get(tool);
    if (!known) this.#checks.set(tool, (known = { check: this.#compiled(tool, schema) }));
    return known.check;
  }

  #compiled(tool: Tool, schema: JsonObject): Check | undefined {
    try {
      if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) throw new Error('it is too large');
      const check = checkWithJsonSchema(schema, `outputSchema of ${tool.name}`);
      check(undefined); // a schema is compiled at its first use
      return check;
    } catch (error) {
      this.#log.warn({ tool: tool.name, error }, 'upstream.schema-unusable');
      return undefined;
    }
  }
}

/** Whether the tool can be called: its input must be an object. */
export function isTool({ name, inputSchema }: JsonObject): boolean {
  if (typeof name !== 'string' || name === '' || !isObject(inputSchema)) return false;
  const { type = 'object', properties = {}, required = [] } = inputSchema;
  return type === 'object' && isObject(properties) && Array.isArray(required);
}
