// Converts a sampling request to an OpenAI chat completion, and its answer back. What the API cannot express is refused, because the answer
// would ignore it silently.
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { dictionary } from '../../kernel/containers/dictionary.ts';
import { GatewayError } from '../../kernel/base/errors.ts';

export interface Chat extends JsonObject {
  model: string;
  messages: JsonObject[];
}

const AUDIO_FORMATS: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

export function toChat(params: JsonObject, limits: { model: string; maxTokens: number }): Chat {
  const { messages, systemPrompt, maxTokens, temperature, stopSequences, tools, toolChoice } = params;
  if (!Array.isArray(messages) || messages.length === 0) throw invalid('messages', 'must be a list of messages');
  const system = typeof systemPrompt === 'string' ? [{ role: 'system', content: systemPrompt }] : [];
  const wanted = typeof maxTokens === 'number' && maxTokens > 0 ? maxTokens : limits.maxTokens;
  return {
    model: limits.model,
    messages: [...system, ...messages.flatMap((message: unknown) => toMessages(message))],
    max_tokens: Math.min(wanted, limits.maxTokens),
    ...(typeof temperature === 'number' && { temperature }),
    ...(Array.isArray(stopSequences) && stopSequences.length > 0 && { stop: stopSequences }),
    ...(Array.isArray(tools) && tools.length > 0 && { tools: tools.map(toTool), ...toToolChoice(toolChoice) }),
  };
}

/** Tool results are separate messages in that API. */
function toMessages(message: unknown): JsonObject[] {
  if (!isObject(message)) throw invalid('messages', 'must be objects');
  const blocks = (Array.isArray(message.content) ? message.content : [message.content]) as unknown[];
  if (!blocks.every(isObject)) throw invalid('messages', 'must have content');
  if (message.role === 'assistant') return [toAssistant(blocks)];
  const results = blocks.filter(({ type }) => type === 'tool_result').map(toToolMessage);
  const others = blocks.filter(({ type }) => type !== 'tool_result');
  return others.length > 0 ? [...results, { role: 'user', content: toContent(others) }] : results;
}

function toAssistant(blocks: JsonObject[]): JsonObject {
  const odd = blocks.find(({ type }) => type !== 'text' && type !== 'tool_use');
  if (odd) throw invalid('messages', `the configured model takes no ${String(odd.type)} said by an assistant`);
  const texts = blocks.filter(({ type }) => type === 'text').map(({ text }) => String(text));
  const uses = blocks.filter(({ type }) => type === 'tool_use');
  return {
    role: 'assistant',
    content: texts.length > 0 ? texts.join('\n') : null,
    ...(uses.length > 0 && { tool_calls: uses.map(toToolCall) }),
  };
}

function toToolCall({ id, name, input }: JsonObject): JsonObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } };
}

/** A tool result can only hold text there; other content is mentioned. */
function toToolMessage({ toolUseId, content, structuredContent, isError }: JsonObject): JsonObject {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const said = blocks.map((block) => textIn(block) ?? `[${String(block.mimeType ?? block.type)}, not shown]`);
  const hasText = blocks.some((block) => textIn(block) !== undefined);
  if (structuredContent !== undefined && !hasText) said.push(JSON.stringify(structuredContent));
  return { role: 'tool', tool_call_id: toolUseId, content: `${isError === true ? 'Error: ' : ''}${said.join('\n')}` };
}

function textIn({ type, text, resource, uri }: JsonObject): string | undefined {
  if (type === 'text') return String(text);
  if (type === 'resource' && isObject(resource) && typeof resource.text === 'string') return resource.text;
  return type === 'resource_link' ? String(uri) : undefined;
}

/** Plain text is sent as a string, because not every endpoint accepts parts. */
function toContent(blocks: JsonObject[]): string | JsonObject[] {
  const [only, ...others] = blocks;
  return only?.type === 'text' && others.length === 0 ? String(only.text) : blocks.map(toPart);
}

function toPart({ type, text, data, mimeType }: JsonObject): JsonObject {
  if (type === 'text') return { type: 'text', text };
  if (type === 'image')
    return { type: 'image_url', image_url: { url: `data:${String(mimeType)};base64,${String(data)}` } };
  const format = type === 'audio' ? AUDIO_FORMATS[String(mimeType).toLowerCase()] : undefined;
  if (format) return { type: 'input_audio', input_audio: { data, format } };
  throw invalid('messages', `the configured model takes no ${String(type === 'audio' ? mimeType : type)}`);
}

function toTool(tool: unknown): JsonObject {
  if (!isObject(tool) || typeof tool.name !== 'string') throw invalid('tools', 'must have names');
  const { name, description, inputSchema } = tool;
  const about = typeof description === 'string' ? { description } : {};
  return { type: 'function', function: { name, ...about, parameters: inputSchema ?? { type: 'object' } } };
}

/** The names are the same. */
function toToolChoice(choice: unknown): JsonObject {
  const { mode } = isObject(choice) ? choice : {};
  return typeof mode === 'string' ? { tool_choice: mode } : {};
}

function invalid(parameter: string, error: string): GatewayError {
  return new GatewayError('INVALID_PARAMS', { parameter, error });
}

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
