// Converts call results to and from the results of `tools/invoke`. `output` is the structured content, else the JSON of
// the only text block, else the text.
import type { JsonObject } from '../../../kernel/message.ts';
import { isObject } from '../../../kernel/message.ts';
import { parseExactly, writeExactly } from '../../../kernel/raw/exact-numbers.ts';

export function toInvocation(result: JsonObject): JsonObject {
  const status = result.isError === true ? 'error' : 'success';
  return { status, output: result.structuredContent ?? toOutput(result, status) };
}

export function fromInvocation(invocation: unknown): JsonObject {
  const { status, output } = isObject(invocation) ? invocation : { status: 'success', output: invocation };
  const isError = status !== 'success';
  if (isObject(output)) return { content: toContent(output, isError), structuredContent: output, isError };
  const text = typeof output === 'string' ? output : writeExactly(output ?? null);
  return { content: output === undefined ? [] : [{ type: 'text', text }], isError };
}

/** Reverses `toOutput` for content that was not structured. */
function toContent(output: JsonObject, isError: boolean): unknown[] {
  const { text, content, message } = output;
  const keys = Object.keys(output).length;
  if (keys === 2 && typeof text === 'string' && Array.isArray(content)) return content;
  if (keys === 1 && typeof text === 'string') return [{ type: 'text', text }];
  return [{ type: 'text', text: isError && typeof message === 'string' ? message : writeExactly(output) }];
}

function toOutput(result: JsonObject, status: string): unknown {
  const content = (result.content ?? []) as JsonObject[];
  const texts = content.filter((block) => block.type === 'text').map((block) => String(block.text));
  const text = texts.join('\n');
  if (status === 'error') return { message: text };
  return parseObject(texts) ?? (texts.length === content.length ? { text } : { text, content });
}

function parseObject(texts: string[]): JsonObject | undefined {
  if (texts.length !== 1 || !/^\s*[{[]/.test(texts[0]!)) return undefined;
  try {
    return parseExactly(texts[0]!) as JsonObject;
  } catch {
    return undefined; // text that only looks like JSON stays text
  }
}
