// What is known of a server's tools, for mirroring arguments into headers. A tool whose annotations break the rules must not
// be used over HTTP: it is left out of the list (matrix §2.8).
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { paramHeaders, toParamHeaders } from './param-headers.ts';

export class ToolSchemas {
  #schemas = new Map<string, JsonObject>();

  /** Remembers the tools of a list and leaves out those that cannot be called by this transport. */
  learn(result: JsonObject, http: boolean): JsonObject {
    if (!Array.isArray(result.tools)) return result;
    const tools = result.tools.filter((tool: unknown) => this.#remember(tool) || !http);
    return tools.length === result.tools.length ? result : { ...result, tools };
  }

  headersFor({ name, arguments: args }: JsonObject): Record<string, string> {
    const schema = this.#schemas.get(String(name));
    return schema ? toParamHeaders(schema, args) : {};
  }

  /** False for a tool with invalid annotations. */
  #remember(tool: unknown): boolean {
    if (!isObject(tool) || !isObject(tool.inputSchema)) return true;
    if (paramHeaders(tool.inputSchema) === 'invalid') return false;
    this.#schemas.set(String(tool.name), tool.inputSchema);
    return true;
  }
}
