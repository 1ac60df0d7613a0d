// Remembers the input schemas of a server's tools, to mirror arguments into headers. A tool with invalid annotations
// must not be used over HTTP, so it is left out of lists.
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import { ToolFacts } from '../../../../protocol/tool-facts.ts';
import { paramHeaders, toParamHeaders } from './param-headers.ts';

export class ToolSchemas {
  readonly #tools = new ToolFacts();

  /** Remembers the tools of a list and removes those that this transport cannot call. */
  learn(result: JsonObject, http: boolean): { result: JsonObject; refused: string[] } {
    if (!Array.isArray(result.tools)) return { result, refused: [] };
    const refused: string[] = [];
    const tools = result.tools.filter((tool: unknown) => {
      const valid = this.#remember(tool) || !http;
      if (!valid) refused.push(String((tool as JsonObject).name));
      return valid;
    });
    return { result: refused.length === 0 ? result : { ...result, tools }, refused };
  }

  has(name: string): boolean {
    return this.#tools.get(name) !== undefined;
  }

  forget(name: string): void {
    this.#tools.forget(name);
  }

  headersFor({ name, arguments: args }: JsonObject): Record<string, string> {
    const schema = this.#tools.get(String(name))?.inputSchema;
    return schema ? toParamHeaders(schema, args) : {};
  }

  /** False for a tool with invalid annotations. */
  #remember(tool: unknown): boolean {
    if (!isObject(tool) || !isObject(tool.inputSchema)) return true;
    const name = String(tool.name);
    const valid = paramHeaders(tool.inputSchema) !== 'invalid';
    if (valid) this.#tools.note(name, tool);
    else this.#tools.forget(name);
    return valid;
  }
}
