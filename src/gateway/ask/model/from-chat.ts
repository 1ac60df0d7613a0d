// Converts a chat completion to the answer of a sampling request.
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { dictionary } from '../../../shared/containers/dictionary.ts';
import { GatewayError } from '../../../shared/errors.ts';

/** Stop reasons; unknown ones are passed on, which the protocol allows. */
const STOP_REASONS: Record<string, string> = dictionary({
  stop: 'endTurn',
  length: 'maxTokens',
  tool_calls: 'toolUse',
  function_call: 'toolUse',
  content_filter: 'contentFilter',
});

export function fromChat(completion: JsonObject, model: string): JsonObject {
  const choice: unknown = Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  const message = isObject(choice) ? choice.message : undefined;
  if (!isObject(choice) || !isObject(message)) throw failed('it answered without a message');
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(toToolUse) : [];
  const text = textOf(message);
  const blocks = [...(text !== '' || calls.length === 0 ? [{ type: 'text', text }] : []), ...calls];
  const reason = calls.length > 0 && choice.finish_reason === 'stop' ? 'tool_calls' : choice.finish_reason;
  return {
    role: 'assistant',
    content: blocks.length === 1 ? blocks[0]! : blocks, // older servers expect a single block
    model: typeof completion.model === 'string' ? completion.model : model,
    ...(typeof reason === 'string' && { stopReason: STOP_REASONS[reason] ?? reason }),
  };
}

/** Text or a list of parts; a refusal has its own field. */
function textOf({ content, refusal }: JsonObject): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  const text = parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');
  return text === '' && typeof refusal === 'string' ? refusal : text;
}

function toToolUse(call: unknown): JsonObject {
  const { id, function: called } = isObject(call) ? call : {};
  if (!isObject(called) || typeof called.name !== 'string') throw failed('it called a tool without a name');
  return { type: 'tool_use', id: String(id), name: called.name, input: toInput(called.arguments) };
}

function toInput(given: unknown): JsonObject {
  if (isObject(given)) return given;
  let parsed: unknown;
  try {
    parsed = JSON.parse(String(given ?? '') || '{}');
  } catch {
    throw failed('it called a tool with arguments that are not JSON');
  }
  if (!isObject(parsed)) throw failed('it called a tool with arguments that are not an object');
  return parsed;
}

function failed(reason: string): GatewayError {
  return new GatewayError('MODEL_FAILED', { reason });
}
