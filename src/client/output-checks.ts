// Checks the structured result of a tool against its listed output schema. An unusable schema is logged and checks nothing, as the tool may
// work anyway.
import type { CallToolResult, Tool } from '@modelcontextprotocol/client';
import { checkWithJsonSchema } from '../protocol/schema/json-schema.ts';
import { toReason } from '../protocol/schema/schema-problem.ts';
import type { SchemaVerdict } from '../protocol/schema/schema-problem.ts';
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';
import type { Log } from '../shared/log.ts';

type Check = (value: unknown) => SchemaVerdict;

/** The server chooses the size of a schema, and compiling costs time and memory. */
const MAX_SCHEMA_CHARS = 100_000;

export class OutputChecks {
  readonly #log: Log;
  /** By the listed definition, as each list brings new ones. `check` is undefined without a usable schema. */
  readonly #checks = new WeakMap<Tool, { check: Check | undefined }>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** The problem of the result, if there is one. A failed tool need not match its schema. */
  problem(tool: Tool | undefined, result: CallToolResult): string | undefined {
    const { outputSchema } = (tool ?? {}) as { outputSchema?: unknown };
    if (!tool || !isObject(outputSchema) || result.isError) return undefined;
    if (result.structuredContent === undefined)
      return `${tool.name} answered without the structured content it promised`;
    const verdict = this.#of(tool, outputSchema)?.(result.structuredContent);
    if (!verdict?.problems) return undefined;
    return `${tool.name} answered with structured content that breaks its schema: ${toReason(verdict.problems)}`;
  }

  #of(tool: Tool, schema: JsonObject): Check | undefined {
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
