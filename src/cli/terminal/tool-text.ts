// Tools on the terminal: typed arguments (`--arg count=3`) as values, results and progress as text.
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';

/** Gives typed arguments the types in the schema of the tool. */
export function toArguments(typed: [name: string, text: string][], body: JsonObject, schema: unknown): JsonObject {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const pairs = typed.map(([name, text]) => [name, toValue(text, properties[name])]);
  return { ...body, ...Object.fromEntries(pairs) };
}

/** Without a type in the schema, valid JSON becomes JSON and everything else text. */
function toValue(text: string, schema: unknown): unknown {
  const { type } = isObject(schema) ? schema : {};
  if ([type].flat().every((one) => one === 'string')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Names content that is not text instead of showing it. */
export function toResultLines({ content, structuredContent }: CallToolResult): string[] {
  const lines = content.map(toText);
  // Tools with structured results repeat them as text for older clients.
  if (lines.length > 0 || structuredContent === undefined) return lines;
  return [JSON.stringify(structuredContent, undefined, 2)];
}

function toText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource ${block.resource.uri}]`;
    case 'resource_link':
      return `[${block.name}: ${block.uri}]`;
    case 'image':
    case 'audio':
      return `[${block.type} ${block.mimeType}, ${Math.floor((block.data.length * 3) / 4)} bytes; --json has it]`;
    default:
      return `[${(block as { type: string }).type}; --json has it]`;
  }
}

interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** Formats progress on one line: `  50 %  Searching…` */
export function toProgressLine({ progress, total, message }: Progress): string {
  const share = total === undefined || total <= 0 ? String(progress) : `${Math.round((100 * progress) / total)} %`;
  return `  ${share.padStart(5)}${message === undefined ? '' : `  ${message}`}`;
}
