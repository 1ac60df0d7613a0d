// Converts a call result to the outcome of an interactive session and back.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { toError } from '../../shared/to-error.ts';

/** `result` and `summary` of `interaction.complete`. */
export function toOutcome(result: JsonObject): { result: JsonObject; summary: string | undefined } {
  const { content, structuredContent, isError } = result;
  const text = textOf(content);
  if (isError === true)
    return { result: { success: false, error: { message: text ?? 'The tool failed' } }, summary: text };
  const data = isObject(structuredContent) ? structuredContent : { content };
  return { result: { success: true, data }, summary: text };
}

export function toFailure(thrown: unknown): JsonObject {
  const { message, code } = toError(thrown);
  return { success: false, error: { message, code } };
}

/** The result of `tools/call`, from the params of `interaction.complete`. */
export function toCallResult({ result, summary }: JsonObject): JsonObject {
  const { success, data, error } = isObject(result) ? result : {};
  if (success === false) return { content: [toText(summary ?? messageIn(error) ?? 'The tool failed')], isError: true };
  if (isObject(data) && Array.isArray(data.content)) return data;
  const structured = isObject(data) ? { structuredContent: data } : {};
  const text = summary ?? (typeof data === 'string' ? data : JSON.stringify(data ?? {}));
  return { content: [toText(text)], ...structured };
}

function toText(text: unknown): JsonObject {
  return { type: 'text', text: String(text) };
}

function messageIn(error: unknown): unknown {
  return isObject(error) ? error.message : error;
}

function textOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const texts = content.filter(isObject).flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));
  return texts.length > 0 ? texts.join('\n') : undefined;
}
