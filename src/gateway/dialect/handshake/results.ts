// Converts results to a handshake revision: drops or converts what the revision lacks. The newest revision gets its
// result untouched where nothing changes, and unparsed where it came that way.
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { RawObject } from '../../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { TaskState } from '../../../protocol/target.ts';
import { withoutEnvelope, withoutStatelessKeys } from '../meta.ts';
import type { Features } from '../revisions.ts';
import { toOlderContent } from './content.ts';
import { toHandshakeEntry } from './list-entry.ts';
import { wrapStructured } from './structured.ts';

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
      return result.task ? toCreatedTask(result) : toCallResult(result, features);
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

function toCreatedTask({ task, ...rest }: JsonObject): JsonObject {
  return { ...rest, task: toTask(task as TaskState) };
}

function toCallResult(result: JsonObject, features: Features): JsonObject {
  const shaped = result.structuredContent === undefined ? result : wrapStructured(result, features);
  if (features.structured || !Array.isArray(shaped.content)) return shaped;
  const content = shaped.content as JsonObject[];
  const older = toOlderContent(content, features);
  return older === content ? shaped : { ...shaped, content: older };
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

/** Converts a task of 2025-11-25 to the neutral form. */
export function fromTask(task: JsonObject): TaskState {
  const { ttl, pollInterval, ...rest } = task;
  return {
    ...(rest as unknown as TaskState),
    ttlMs: typeof ttl === 'number' ? ttl : null,
    ...(typeof pollInterval === 'number' && { pollIntervalMs: pollInterval }),
  };
}
