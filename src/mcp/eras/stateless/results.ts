// Encodes results for the stateless era: `resultType` on each, cache hints where required, and the server's info.
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Exchange } from '../../../kernel/exchange.ts';
import { writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { RawObject, RawText } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject, EncodedMembers } from '../../../kernel/raw/raw-object.ts';
import type { Target, TaskState } from '../../../kernel/target.ts';
import { LIST_METHODS } from '../../../kernel/methods.ts';
import { arrivedVia } from '../../../kernel/base/via.ts';
import { toPlainCompletion } from '../handshake/results.ts';
import { META } from '../meta.ts';
import { statelessRevisions } from './envelope.ts';
import { withFlowExtension } from './flow-extension.ts';

const CACHED = new Set<string>([...LIST_METHODS, 'resources/read']);

export function toStatelessResult(method: string, result: ResultObject, info: Implementation): ResultObject {
  if (!(result instanceof RawObject)) return toRead(method, result, info);
  if (method === 'resources/read') return stampRaw({ ttlMs: 0, cacheScope: 'private' }, result, info);
  const isSame =
    method === 'prompts/get' ||
    (method === 'tools/call' && !result.has('task') && result.typeOf('content') === 'array');
  if (!isSame) return toRead(method, result.parse(), info);
  return (result instanceof RawText && stampText(result, info)) || stampRaw({}, result, info);
}

function toRead(method: string, result: JsonObject, info: Implementation): JsonObject {
  if (CACHED.has(method)) return stamp({ ttlMs: 0, cacheScope: 'private', ...toEntries(result) }, info);
  switch (method) {
    case 'tools/call':
      return result.task ? toTaskResult(result.task as TaskState, info) : stamp(withContent(result), info);
    case 'completion/complete':
      return stamp(toPlainCompletion(result), info);
    case 'tasks/cancel':
    case 'tasks/update':
      return stamp({}, info);
    default:
      return stamp(result, info);
  }
}

/** Older servers omit `content`, which this era requires. */
function withContent(result: JsonObject): JsonObject {
  if (Array.isArray(result.content)) return result;
  const { structuredContent } = result;
  const text = structuredContent === undefined ? undefined : writeExactly(structuredContent);
  return { ...result, content: text === undefined ? [] : [{ type: 'text', text }] };
}

export function toInputRequired(
  questions: JsonObject,
  requestState: string,
  { info, lastsMs }: { info: Implementation; lastsMs?: number | undefined },
): JsonObject {
  const result = { resultType: 'input_required', inputRequests: questions, requestState };
  return { ...result, _meta: { ...metaOf(info), ...(lastsMs !== undefined && { [META.lasts]: lastsMs }) } };
}

export function toDiscovery(target: Target, exchange: Pick<Exchange, 'client'>, spoken: readonly string[]): JsonObject {
  const { instructions } = target;
  const result: JsonObject = {
    supportedVersions: statelessRevisions(spoken),
    capabilities: toCapabilities(target.capabilities(exchange.client)),
    ...(instructions !== undefined && { instructions }),
    ...target.greeting?.(exchange.client),
    ttlMs: 0,
    cacheScope: 'private',
  };
  // For a gateway in front of us: asks it to send the ids in `_meta`, because the header may get lost.
  if (arrivedVia().length > 0) result._meta = { ...(isObject(result._meta) && result._meta), [META.via]: true };
  return stamp(result, target.info);
}

export function stamp(result: JsonObject, info: Implementation): JsonObject {
  const own = metaOf(info);
  // Object.assign, because a spread with duplicate keys takes V8 five times as long and this runs for every call.
  const stamped: JsonObject = Object.assign({ resultType: 'complete' }, result);
  stamped._meta = isObject(result._meta) ? Object.assign({}, result._meta, own) : own;
  return stamped;
}

/** The same for an unparsed result. */
function stampRaw(defaults: JsonObject, result: RawObject, info: Implementation): RawObject {
  const added = Object.entries({ ...defaults, resultType: 'complete' }).filter(([key]) => !result.has(key));
  const theirs = result.get('_meta');
  const meta = isObject(theirs) ? { ...theirs, ...metaOf(info) } : metaOf(info);
  return result.with({ ...Object.fromEntries(added), _meta: meta });
}

/** The same for a result that is passed on as text, if it has no stamp yet or the same one as ours. */
function stampText(result: RawText, info: Implementation): RawText | undefined {
  if (result.has('resultType')) return undefined;
  const { whole, meta } = stampOf(info);
  if (!result.has('_meta')) return result.plus(whole);
  const unread = result.before('resultType', 'complete');
  if (unread && endsWith(unread.text, meta)) return unread;
  return endsWith(result.text, meta) ? result.plus(COMPLETE) : undefined;
}

/** Twice as fast as String.prototype.endsWith. */
function endsWith(text: string, end: string): boolean {
  return text.slice(-end.length) === end;
}

const COMPLETE: EncodedMembers = { values: { resultType: 'complete' }, text: ',"resultType":"complete"' };

interface Stamp {
  whole: EncodedMembers;
  /** The end of a result that already carries our `_meta`. */
  meta: string;
}

const stamps = new WeakMap<Implementation, Stamp>();

function stampOf(info: Implementation): Stamp {
  const known = stamps.get(info);
  if (known) return known;
  const _meta = metaOf(info);
  const text = `,"_meta":${writeExactly(_meta)}`;
  const whole = { values: { ...COMPLETE.values, _meta }, text: `${COMPLETE.text}${text}` };
  const stamp = { whole, meta: `${text}}` };
  stamps.set(info, stamp);
  return stamp;
}

const metas = new WeakMap<Implementation, JsonObject>();

/** Created once per server. */
function metaOf(info: Implementation): JsonObject {
  let meta = metas.get(info);
  if (!meta) metas.set(info, (meta = { [META.serverInfo]: info }));
  return meta;
}

/** The flat form: the task's fields without its payloads. */
function toTaskResult(task: TaskState, info: Implementation): JsonObject {
  const { inputRequests, result, error, ...fields } = task;
  return { ...stamp(fields, info), resultType: 'task' };
}

/** `execution` belongs to the tasks of 2025-11-25. */
function toEntries(result: JsonObject): JsonObject {
  if (!Array.isArray(result.tools)) return result;
  if (!(result.tools as JsonObject[]).some((tool) => 'execution' in tool)) return result;
  return { ...result, tools: (result.tools as JsonObject[]).map(({ execution, ...tool }) => tool) };
}

function toCapabilities(capabilities: ServerCapabilities): JsonObject {
  const { tasks, extensions, ...rest } = capabilities as JsonObject;
  if (tasks === undefined) return withFlowExtension(capabilities);
  return withFlowExtension({ ...rest, extensions: { ...(extensions as JsonObject), [TASKS_EXTENSION]: {} } });
}
