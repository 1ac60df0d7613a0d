// Converts results to a handshake revision: drops or converts what the revision lacks. The newest revision gets its
// result untouched where nothing changes, and unparsed where it came that way.
import { isObject, present } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { copyNumbers, keepNumbers, writeMember } from '../../../kernel/raw/exact-numbers.ts';
import { RawObject } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { TaskState } from '../../../kernel/target.ts';
import { dictionary } from '../../../kernel/containers/dictionary.ts';
import { withoutEnvelope, withoutStatelessKeys } from '../meta.ts';
import type { Features } from './features.ts';

export function toHandshakeResult(method: string, given: ResultObject, features: Features): ResultObject {
  if (!(given instanceof RawObject)) return toRead(method, withoutEnvelope(given), features);
  const result = withoutEnvelopeRaw(given);
  if (method === 'resources/read') return result.without('ttlMs', 'cacheScope');
  return isSame(method, result, features) ? result : toRead(method, result.parse(), features);
}

/** Removes the stateless era's own `_meta` keys and keeps all others. */
function withoutEnvelopeRaw(result: RawObject): RawObject {
  const meta = result.get('_meta');
  const left = isObject(meta) ? withoutStatelessKeys(meta) : meta;
  if (left === meta) return result;
  return left ? result.with({ _meta: left }) : result.without('_meta');
}

/** Whether this revision gets the result unchanged. */
function isSame(method: string, result: RawObject, { structured }: Features): boolean {
  if (method === 'prompts/get') return structured;
  if (method !== 'tools/call' && method !== 'tasks/result') return false;
  const type = result.typeOf('structuredContent');
  return structured && (type === undefined || type === 'object') && !result.has('task');
}

function toRead(method: string, result: JsonObject, features: Features): JsonObject {
  switch (method) {
    case 'tools/call':
    case 'tasks/result':
      return result.task ? { ...result, task: toTask(result.task as TaskState) } : toCallResult(result, features);
    case 'tools/list':
      return toListResult(result, 'tools', features);
    case 'prompts/list':
      return toListResult(result, 'prompts', features);
    case 'resources/list':
      return toListResult(result, 'resources', features);
    case 'resources/templates/list':
      return toListResult(result, 'resourceTemplates', features);
    case 'resources/read':
      return withoutCacheHints(result);
    case 'prompts/get':
      return toPromptResult(result, features);
    case 'completion/complete':
      return features.completionObjects ? result : toPlainCompletion(result);
    case 'tasks/get':
    case 'tasks/cancel':
      return toTask(result as unknown as TaskState);
    case 'tasks/list':
      return { ...result, tasks: (result.tasks as TaskState[]).map(toTask) };
    default:
      return result;
  }
}

/**
 * A task in the form of 2025-11-25: durations are called `ttl` and `pollInterval`, and a failed tool is a failed task.
 */
export function toTask(task: TaskState): JsonObject {
  const { ttlMs, pollIntervalMs, inputRequests, result, error, ...rest } = task;
  const failed = task.status === 'completed' && result?.isError === true;
  return {
    ...rest,
    ...(failed && { status: 'failed' }),
    ttl: ttlMs,
    ...(pollIntervalMs !== undefined && { pollInterval: pollIntervalMs }),
  };
}

/** Converts a task of 2025-11-25 to the neutral form. */
export function fromTask(task: JsonObject): TaskState {
  const { ttl, pollInterval, ...rest } = task;
  return {
    ...(rest as unknown as TaskState),
    ttlMs: typeof ttl === 'number' ? ttl : null,
    ...(typeof pollInterval === 'number' && { pollIntervalMs: pollInterval }),
  };
}

function toCallResult(result: JsonObject, features: Features): JsonObject {
  const shaped = result.structuredContent === undefined ? result : wrapStructured(result, features);
  if (features.structured || !Array.isArray(shaped.content)) return shaped;
  const content = shaped.content as JsonObject[];
  const older = toOlderContent(content, features);
  return older === content ? shaped : { ...shaped, content: older };
}

/**
 * For a result that has structured content. 2024-11-05 and 2025-03-26 lack it, later revisions require an object: any
 * other value is wrapped as `result`, as the official SDK does.
 */
function wrapStructured(result: JsonObject, features: Features): JsonObject {
  if (features.structured && isObject(result.structuredContent)) return result;
  const { structuredContent: dropped, ...rest } = result;
  const text = writeMember(result, 'structuredContent');
  const content = withText(Array.isArray(rest.content) ? (rest.content as JsonObject[]) : [], text);
  if (!features.structured) return { ...rest, content };
  return { ...rest, content, structuredContent: keepNumbers({ result: dropped }, `{"result":${text}}`) };
}

/** For clients without structured content, adds it as text. */
function withText(content: JsonObject[], text: string): JsonObject[] {
  if (content.some((block) => block.type === 'text')) return content;
  return [...content, { type: 'text', text }];
}

/**
 * Converts content blocks for revisions before 2025-06-18, which brought resource links. Audio came with 2025-03-26.
 * Returns the same array if no block changes.
 */
function toOlderContent(content: JsonObject[], features: Features): JsonObject[] {
  const older = content.map((block, index) => toBlock(block, index, features));
  return older.some((block, index) => block !== content[index]) ? older : content;
}

function toBlock(given: JsonObject, index: number, features: Features): JsonObject {
  const block = toAnnotated(given);
  if (block.type === 'resource_link') return { type: 'text', text: linkText(block) };
  if (block.type === 'audio' && !features.audio) {
    const { data, mimeType } = block;
    return { type: 'resource', resource: { uri: `content://audio/${index}`, mimeType, blob: data } };
  }
  return block;
}

/** `lastModified` exists from 2025-06-18 on. */
function toAnnotated(holder: JsonObject): JsonObject {
  const { annotations } = holder;
  if (!isObject(annotations) || annotations.lastModified === undefined) return holder;
  const { lastModified: _, ...older } = annotations;
  return { ...holder, annotations: older };
}

function linkText({ name, uri, mimeType }: JsonObject): string {
  const type = typeof mimeType === 'string' ? ` (${mimeType})` : '';
  return `${String(name ?? uri)} — ${String(uri)}${type}`;
}

function toListResult(result: JsonObject, key: string, features: Features): JsonObject {
  const plain = withoutCacheHints(result);
  return { ...plain, [key]: (plain[key] as JsonObject[]).map((entry) => toHandshakeEntry(entry, features)) };
}

function withoutCacheHints(result: JsonObject): JsonObject {
  if (result.ttlMs === undefined && result.cacheScope === undefined) return result;
  const { ttlMs, cacheScope, ...rest } = result;
  return rest;
}

const known = new Map<Features, WeakMap<JsonObject, JsonObject>>();

/**
 * Drops fields that a revision lacks, for clients that validate strictly. The same definition objects are listed
 * repeatedly, so each is converted once.
 */
export function toHandshakeEntry(entry: JsonObject, features: Features): JsonObject {
  let cache = known.get(features);
  if (!cache) known.set(features, (cache = new WeakMap()));
  let listed = cache.get(entry);
  if (!listed) cache.set(entry, (listed = shape(entry, features)));
  return listed;
}

function shape(entry: JsonObject, features: Features): JsonObject {
  let { icons, execution, title, outputSchema, _meta, ...rest } = entry;
  if (features.icons) rest = { ...rest, ...present({ icons }) };
  if (features.tasks) rest = { ...rest, ...present({ execution }) };
  if (features.structured)
    rest = { ...rest, ...present({ title, outputSchema: wrapOutputSchema(outputSchema), _meta }) };
  else rest = toAnnotated(rest);
  if (!features.structured && Array.isArray(rest.arguments)) {
    rest = { ...rest, arguments: rest.arguments.map(({ title: _, ...argument }: JsonObject) => argument) };
  }
  if ('inputSchema' in rest && !features.toolAnnotations) delete rest.annotations;
  return rest;
}

/**
 * The schema of the wrapped value; undefined if the value may or may not be an object, because no single schema
 * describes both the wrapped and the plain form.
 */
export function wrapOutputSchema(schema: unknown): unknown {
  if (!isObject(schema) || schema.type === 'object') return schema;
  if (mayBeObject(schema.type)) return undefined;
  const { $schema, ...inner } = schema;
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { result: reroot(inner) },
    required: ['result'],
  };
}

function mayBeObject(type: unknown): boolean {
  return type === undefined || (Array.isArray(type) && type.includes('object'));
}

const MAP_KEYWORDS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples']);

/** Moves local references one level down; data keywords and embedded documents are left alone. */
function reroot(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(reroot);
  if (!isObject(schema) || typeof schema.$id === 'string') return schema;
  const moved: JsonObject = dictionary();
  for (const [key, value] of Object.entries(schema)) {
    const pointer = (key === '$ref' || key === '$dynamicRef') && typeof value === 'string' && /^#(\/|$)/.test(value);
    if (pointer) moved[key] = `#/properties/result${value.slice(1)}`;
    else if (MAP_KEYWORDS.has(key) && isObject(value)) moved[key] = rerootAll(value);
    else moved[key] = DATA_KEYWORDS.has(key) ? value : reroot(value);
  }
  return copyNumbers(schema, moved);
}

/** Schemas by name, where a property may be called `default` or `$ref`. */
function rerootAll(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, reroot(schema)]));
}

function toPromptResult(result: JsonObject, features: Features): JsonObject {
  if (features.structured) return result;
  const messages = (result.messages as JsonObject[]).map((message) => {
    const [content] = toOlderContent([message.content as JsonObject], features);
    return content === message.content ? message : { ...message, content };
  });
  return { ...result, messages };
}

/** Completion values are strings on every revision but the oldest. */
export function toPlainCompletion(result: JsonObject): JsonObject {
  const completion = result.completion as JsonObject;
  const values = (completion.values as unknown[]).map((value) => (isObject(value) ? value.value : value));
  return { ...result, completion: { ...completion, values } };
}
