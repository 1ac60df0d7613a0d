// What a listed tool costs the context of a model. Models have different tokenizers, so this is an estimate that is the same everywhere:
// a quarter of the bytes of what a client hands to its model, the name, the description and the schema of the arguments, as JSON.
import type { JsonObject } from '../message.ts';

const BYTES_PER_TOKEN = 4;

/** `tool`: its entry in a list. */
export function tokensOfTool({ name, description, inputSchema }: JsonObject): number {
  const bytes = Buffer.byteLength(JSON.stringify({ name, description, inputSchema }));
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function tokensOfTools(tools: readonly JsonObject[]): number {
  return tools.reduce((sum, tool) => sum + tokensOfTool(tool), 0);
}
