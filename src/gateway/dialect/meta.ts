// Takes apart the `_meta` of a request: what belongs to the protocol is lifted out, what belongs to others stays.
import type { TraceContext } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  relatedTask: 'io.modelcontextprotocol/related-task',
  /** Ours: the name of a question in a handshake request, for whoever bridges it into the stateless era. */
  key: 'mcp-parley/key',
} as const;

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

export interface SplitParams {
  /** Params with only foreign `_meta` keys left; the very object that came when there was nothing to lift. */
  params: JsonObject;
  progressToken: string | number | undefined;
  trace: TraceContext | undefined;
}

const NOTHING: JsonObject = Object.freeze({});
const TRACE_KEYS = ['traceparent', 'tracestate', 'baggage'] as const;

export function splitMeta(params: JsonObject | undefined): SplitParams {
  const meta = params?._meta;
  if (!isObject(meta)) return { params: params ?? NOTHING, progressToken: undefined, trace: undefined };
  const { _meta, ...rest } = params!;
  const kept: JsonObject = {};
  for (const key in meta) if (!isReserved(key)) kept[key] = meta[key];
  const foreign = Object.keys(kept).length > 0;
  return {
    params: foreign ? { ...rest, _meta: kept } : rest,
    progressToken: toToken(meta.progressToken),
    trace: toTrace(meta),
  };
}

function isReserved(key: string): boolean {
  if (key === 'progressToken' || key === '__proto__') return true;
  if (TRACE_KEYS.includes(key as 'baggage')) return true;
  return key.startsWith('io.modelcontextprotocol/') && key !== META.relatedTask;
}

function toToken(value: unknown): string | number | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

function toTrace(meta: JsonObject): TraceContext | undefined {
  let trace: TraceContext | undefined;
  for (const key of TRACE_KEYS) {
    const value = meta[key];
    if (typeof value === 'string') trace = { ...trace, [key]: value };
  }
  return trace;
}
