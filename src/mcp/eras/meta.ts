// The `_meta` of messages: which keys in it are the protocol's or ours, and how they are taken out. All others pass unchanged.
import type { TraceContext } from '../../kernel/exchange.ts';
import { HUMAN } from '../../kernel/form/human-marks.ts';
import { copyNumbers } from '../../kernel/raw/exact-numbers.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject, Message } from '../../kernel/message.ts';
import { RELATED_TASK_KEY } from '../../kernel/target.ts';
import { arrivedVia, readVia } from '../../kernel/base/via.ts';

export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  relatedTask: RELATED_TASK_KEY,
  /** Ours: the key of a question in a handshake request, for a gateway that bridges it into the stateless era. */
  key: 'mcp-parley/key',
  /** Ours: only a person may answer the question, and only after it was asked. */
  human: HUMAN,
  /** Ours: the capabilities that a client lacked, in a handshake result that failed because of it. */
  required: 'mcp-parley/required-capabilities',
  /** Ours: for how many milliseconds a server takes the answers to its questions, for a gateway in front of it. */
  lasts: 'mcp-parley/lasts-ms',
  /** Ours: the gateways that a request has passed (kernel/base/via.ts). */
  via: 'mcp-parley/via',
} as const;

export interface SplitParams {
  /** The params without the protocol's `_meta` keys. */
  params: JsonObject;
  progressToken: string | number | undefined;
  trace: TraceContext | undefined;
}

const NOTHING: JsonObject = Object.freeze({});

/**
 * Modifies the message's own `_meta`: this runs for every request, and copying the params would cost more than the
 * rest.
 */
export function splitMeta(params: JsonObject | undefined): SplitParams {
  const meta = params?._meta;
  if (!isObject(meta)) return { params: params ?? NOTHING, progressToken: undefined, trace: undefined };
  params!._meta = foreignKeys(meta);
  return { params: params!, progressToken: toProgressToken(meta.progressToken), trace: toTrace(meta) };
}

/** The keys by which a stateless client describes itself in each request. */
const ENVELOPE: ReadonlySet<string> = new Set([
  META.protocolVersion,
  META.clientInfo,
  META.clientCapabilities,
  META.logLevel,
]);

const TRACE_KEYS = ['traceparent', 'tracestate', 'baggage'] as const;

/** Keys that the protocol does not define; undefined if there are none. */
function foreignKeys(meta: JsonObject): JsonObject | undefined {
  let foreign: JsonObject | undefined;
  for (const key in meta) {
    if (isReserved(key)) continue;
    foreign ??= {};
    foreign[key] = meta[key];
  }
  return foreign && copyNumbers(meta, foreign);
}

function isReserved(key: string): boolean {
  if (ENVELOPE.has(key) || key === META.via) return true;
  if (key.startsWith('io.modelcontextprotocol/')) return key !== META.relatedTask;
  return key === 'progressToken' || key === '__proto__' || TRACE_KEYS.includes(key as 'baggage');
}

export function toProgressToken(value: unknown): string | number | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

function toTrace(meta: JsonObject): TraceContext | undefined {
  if (meta.traceparent === undefined && meta.tracestate === undefined && meta.baggage === undefined) return undefined;
  const trace: TraceContext = {};
  for (const key of TRACE_KEYS) if (typeof meta[key] === 'string') trace[key] = meta[key];
  return trace;
}

/** The `_meta` of an opening that may be passed to a server; undefined if nothing is left. */
export function forwardedMeta(meta: unknown): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const forwarded = { ...foreignKeys(meta), ...toTrace(meta) };
  return Object.keys(forwarded).length > 0 ? copyNumbers(meta, forwarded) : undefined;
}

/** Keys that belong to a single stateless message, in the `_meta` of a result or notification. */
const STATELESS_ONLY: readonly string[] = [META.serverInfo, META.subscriptionId, META.protocolVersion];

/** The message without the stateless era's `_meta` keys; the same object if it has none. */
export function withoutEnvelope(message: JsonObject): JsonObject {
  const meta = message._meta;
  const left = isObject(meta) ? withoutStatelessKeys(meta) : meta;
  if (left === meta) return message;
  const { _meta: _, ...rest } = message;
  return left ? { ...rest, _meta: left } : rest;
}

/** The same for the `_meta` alone; undefined if nothing is left. */
export function withoutStatelessKeys(meta: JsonObject): JsonObject | undefined {
  let left: JsonObject | undefined;
  for (const key of STATELESS_ONLY) {
    if (!(key in meta)) continue;
    left ??= { ...meta };
    delete left[key];
  }
  if (!left) return meta;
  return Object.keys(left).length > 0 ? left : undefined;
}

/** Tells the request reader which `_meta` repeats in every request of a client: its description of itself. */
export const RECURRING = {
  method: 'tools/call',
  /** Only envelope keys repeat; any other key may differ each time. */
  isMeta: (meta: JsonObject): boolean => Object.keys(meta).every((key) => ENVELOPE.has(key)),
};

/** The gateways that a message with `_meta` has passed; undefined for nearly every one, and then no check is needed. */
export function readMessageVia(message: Message): readonly string[] | undefined {
  const meta = 'params' in message ? message.params?._meta : undefined;
  if (!isObject(meta) || !(META.via in meta)) return undefined;
  const ids = readVia(meta[META.via]);
  return ids.length > 0 ? [...new Set([...arrivedVia(), ...ids])] : undefined;
}
