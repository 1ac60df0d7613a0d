// Converts sampling requests for older clients. Before 2025-11-25 a message holds one block: text, an image or, since
// 2025-03-26, audio. Tools came with 2025-11-25: a client without them never gets tool definitions, but tool calls and
// results among the messages are passed on as text.
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { Features } from '../revisions.ts';

export function toOlderSampling({ messages, tools, toolChoice, ...rest }: JsonObject, features: Features): JsonObject {
  if (!Array.isArray(messages)) return { ...rest, messages };
  const split = messages.flatMap((message: unknown) => {
    if (!isObject(message)) return [message];
    const blocks = (Array.isArray(message.content) ? message.content : [message.content]) as unknown[];
    return blocks.map((block) => ({ ...message, content: isObject(block) ? toBlock(block, features) : block }));
  });
  return { ...rest, messages: split };
}

function toBlock(block: JsonObject, features: Features): JsonObject {
  const { type, name, input, content, structuredContent, isError, mimeType } = block;
  if (type === 'tool_use') return text(`[called the tool ${String(name)} with ${JSON.stringify(input ?? {})}]`);
  if (type === 'tool_result') {
    const told = JSON.stringify(structuredContent ?? content ?? []);
    return text(`[the tool ${isError === true ? 'failed with' : 'answered'} ${told}]`);
  }
  return type === 'audio' && !features.audio ? text(`[sound, ${String(mimeType)}, which cannot be sent here]`) : block;
}

function text(words: string): JsonObject {
  return { type: 'text', text: words };
}
