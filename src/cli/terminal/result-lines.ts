// Formats the result of a tool for the terminal. Names content that is not text instead of showing it.
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';

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
