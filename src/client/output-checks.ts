// Whether a tool answers as it said it would: what is structured in its result fits the schema that the list showed. A schema
// that cannot be used checks nothing, which is told to the log: the tool may be good all the same.
import type { CallToolResult, Tool } from '@modelcontextprotocol/client';
import { checkWithJsonSchema } from '../protocol/schema/json-schema.ts';
import { toReason } from '../protocol/schema/schema-problem.ts';
import type { SchemaVerdict } from '../protocol/schema/schema-problem.ts';
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';
import type { Log } from '../shared/log.ts';

type Check = (value: unknown) => SchemaVerdict;

/** Compiling takes time and memory by the size of a schema, and the server chooses that. */
const MAX_SCHEMA_CHARS = 100_000;

export class OutputChecks {
  readonly #log: Log;
  /** By the definition that was listed: another list has others. Undefined for a tool without a schema that can be used. */
  readonly #checks = new WeakMap<Tool, { check: Check | undefined }>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** What is wrong with the result, if something is. A tool that failed need not answer by its schema. */
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
      check(undefined); // a schema is compiled when it is first used
      return check;
    } catch (error) {
      this.#log.warn({ tool: tool.name, error }, 'upstream.schema-unusable');
      return undefined;
    }
  }
}
