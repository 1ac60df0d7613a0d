// Converts questions to a client's revision. If the answer must be converted back, the function for that is returned
// too.
import type { Ask } from '../../../kernel/exchange.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { dictionary } from '../../../kernel/containers/dictionary.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import type { Features } from './features.ts';

export interface OlderAsk {
  method: string;
  params?: JsonObject;
  fromAnswer?: (answer: JsonObject) => JsonObject;
}

export function toOlderAsk({ method, params }: Ask, features: Features): OlderAsk {
  if (params === undefined) return { method };
  if (method === 'elicitation/create') return toElicitation(params, features);
  if (method === 'sampling/createMessage' && !features.samplingTools)
    return { method, params: toOlderSampling(params, features) };
  return { method, params };
}

function toElicitation(params: JsonObject, features: Features): OlderAsk {
  const method = 'elicitation/create';
  // The stateless era has no elicitation ids: the call that asks identifies the question.
  if (params.mode === 'url')
    return { method, params: { ...params, elicitationId: params.elicitationId ?? randomId() } };
  if (features.choiceForms) return { method, params };
  const { mode, requestedSchema, ...rest } = params;
  if (!isObject(requestedSchema)) return { method, params: rest };
  const { schema, fromContent } = toForm(requestedSchema);
  return {
    method,
    params: { ...rest, requestedSchema: schema },
    ...(fromContent && {
      fromAnswer: (answer) => (isObject(answer.content) ? { ...answer, content: fromContent(answer.content) } : answer),
    }),
  };
}

/** 2025-06-18 has no option titles, no multiple choice, and defaults only for booleans. */
function toForm({ $schema, properties, required, ...rest }: JsonObject) {
  const fields: JsonObject = dictionary();
  const several = new Map<string, { key: string; value: string }[]>();
  for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
    const choices = isObject(field) && field.type === 'array' ? choicesOf(field.items) : undefined;
    if (!choices || !isObject(field)) fields[name] = isObject(field) ? toField(field) : field;
    else {
      const options = choices.map(({ value, title }) => ({ key: `${name}: ${value}`, value, title }));
      for (const { key, title } of options) fields[key] = { type: 'boolean', title, default: false };
      several.set(name, options);
    }
  }
  const needed = Array.isArray(required) ? required.filter((name) => !several.has(String(name))) : undefined;
  const schema = { ...rest, properties: fields, ...(needed && { required: needed }) };
  return { schema, fromContent: several.size > 0 ? (content: JsonObject) => gathered(content, several) : undefined };
}

function toField({ oneOf, default: value, ...field }: JsonObject): JsonObject {
  const choices = choicesOf({ oneOf });
  return {
    ...field,
    ...(choices && { enum: choices.map((one) => one.value), enumNames: choices.map((one) => one.title) }),
    ...(field.type === 'boolean' && value !== undefined && { default: value }),
  };
}

function choicesOf(items: unknown): { value: string; title: string }[] | undefined {
  if (!isObject(items)) return undefined;
  if (Array.isArray(items.enum)) return items.enum.map((value) => ({ value: String(value), title: String(value) }));
  const titled = items.anyOf ?? items.oneOf;
  if (!Array.isArray(titled)) return undefined;
  return titled.filter(isObject).map((one) => ({ value: String(one.const), title: String(one.title ?? one.const) }));
}

function gathered(content: JsonObject, several: Map<string, { key: string; value: string }[]>): JsonObject {
  const rest: JsonObject = dictionary(content);
  for (const [name, options] of several) {
    rest[name] = options.filter(({ key }) => content[key] === true).map(({ value }) => value);
    for (const { key } of options) delete rest[key];
  }
  return rest;
}

/**
 * Before 2025-11-25 a message holds one block: text, an image or, since 2025-03-26, audio. Tools came with 2025-11-25: a
 * client without them never gets tool definitions, but tool calls and results among the messages are passed on as text.
 */
function toOlderSampling({ messages, tools, toolChoice, ...rest }: JsonObject, features: Features): JsonObject {
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
