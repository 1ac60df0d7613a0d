// Creates OpenTelemetry spans and durations with the SDK of this process: one for each exchange, and one for each call that it makes to a server.
// 1. The parent is the context of the message, or else the active span (such as that of the HTTP request).
// 2. The request to the server carries the context of our span. Without a recorder, it carries the client's context unchanged.
// 3. Attributes follow the conventions for MCP (https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp), and never include
//    arguments or results. Metrics have no names of tools and resources, because clients could make up any number of them.
import type { Attributes, Histogram, Span, SpanContext, SpanKind, Tracer, TraceState } from '@opentelemetry/api';
import type { Handle, HandleResult } from '../../../kernel/target.ts';
import { deriveExchange } from '../../../kernel/derived-exchange.ts';
import type { Exchange, TraceContext } from '../../../kernel/exchange.ts';
import { CALL_TOOL, GET_PROMPT } from '../../../kernel/methods.ts';
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { version } from '../../../kernel/version.ts';
import { tapOutcome, toMethodLabel } from './metrics.ts';
import {
  CLIENT_SPAN,
  FAILED,
  OtelContexts,
  SERVER_SPAN,
  createTraceState,
  isValidSpan,
  registeredOtel,
} from './registered-otel.ts';

/** Limits the tool name in a span name; only made-up names are longer. */
const MAX_NAME = 128;
/** In seconds, as the conventions advise. */
const BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Whether this process has an SDK that records spans. */
export function hasTracing(): boolean {
  return registeredOtel()?.trace !== undefined;
}

interface Observed {
  kind: SpanKind;
  /** The time since its begin in seconds. */
  elapsed: () => number;
  exchange: Exchange;
  span: Span;
}

export class ExchangeTracer {
  readonly #contexts = new OtelContexts();
  readonly #tracer: Tracer | undefined = registeredOtel()?.trace?.getTracer('mcp-parley', version());
  readonly #durations: ReadonlyMap<SpanKind, Histogram> = createDurations();
  readonly #log: Log | undefined;
  #isChecked = false;

  constructor(log?: Log) {
    this.#log = log;
  }

  /** The server span of a client's request. */
  serve(exchange: Exchange, handle: Handle): HandleResult {
    return this.#around(exchange, handle, SERVER_SPAN);
  }

  /** The client span of a call to a server. */
  call(server: string, exchange: Exchange, handle: Handle): HandleResult {
    return this.#around(exchange, handle, CLIENT_SPAN, server);
  }

  #around(exchange: Exchange, handle: Handle, kind: SpanKind, server?: string): HandleResult {
    const contexts = this.#contexts;
    if (!this.#tracer) return handle(exchange);
    const active = contexts.active();
    const came = toSpanContext(exchange.trace, createTraceState);
    const parent = came ? contexts.withSpanContext(active, came) : active;
    const ambient = came && server === undefined ? contexts.spanContextIn(active) : undefined;
    const links = ambient ? [{ context: ambient }] : [];
    const span = this.#tracer.startSpan(nameOf(exchange), { kind, attributes: attributesOf(exchange), links }, parent);
    if (!this.#isChecked) this.#check(span);
    if (server !== undefined) span.setAttribute('parley.server', server);
    const carried = this.#carry(exchange, span, came);
    const begun = performance.now();
    const observed = { kind, exchange, span, elapsed: () => (performance.now() - begun) / 1000 };
    return tapOutcome(
      carried,
      { handle: (one) => contexts.run(contexts.withSpan(parent, span), handle, one) },
      (result) => this.#end(observed, fieldOf(result, 'isError') === true ? TOOL_FAILED : undefined),
      (thrown) => this.#end(observed, toFailure(thrown)),
    );
  }

  /** An SDK whose spans have no ids makes none: it does not fit the copy of the API that registered it, or was shut down. */
  #check(span: Span): void {
    this.#isChecked = true;
    if (!isValidSpan(span.spanContext())) this.#log?.warn({ api: registeredOtel()?.version }, 'tracing.no-spans');
  }

  /** A span that is not recorded has no context of its own. */
  #carry(exchange: Exchange, span: Span, came: SpanContext | undefined): Exchange {
    const own = span.spanContext();
    if (!isValidSpan(own) || own.spanId === came?.spanId) return exchange;
    return deriveExchange(exchange, { trace: toTraceContext(own, exchange.trace?.baggage) });
  }

  #end({ kind, elapsed, exchange, span }: Observed, failure: Failure | undefined): void {
    if (exchange.server !== undefined) span.setAttribute('parley.server', exchange.server);
    if (failure) {
      span.setAttributes({ 'error.type': failure.type, ...failure.attributes });
      span.setStatus({ code: FAILED, ...(failure.message && { message: failure.message }) });
    }
    span.end();
    this.#durations.get(kind)?.record(elapsed(), measuredOf(exchange, failure));
  }
}

/** Empty without an SDK for metrics. */
function createDurations(): Map<SpanKind, Histogram> {
  const meter = registeredOtel()?.metrics?.getMeter('mcp-parley', version());
  if (!meter) return new Map();
  const advice = { explicitBucketBoundaries: BOUNDARIES };
  const create = (side: string, description: string): Histogram =>
    meter.createHistogram(`mcp.${side}.operation.duration`, { unit: 's', description, advice });
  return new Map([
    [SERVER_SPAN, create('server', 'Time from a request of a client to its answer.')],
    [CLIENT_SPAN, create('client', 'Time from a request to a server to its answer.')],
  ]);
}

function measuredOf({ method, client, server }: Exchange, failure: Failure | undefined): Attributes {
  return {
    'mcp.method.name': toMethodLabel(method),
    'mcp.protocol.version': client.revision,
    ...(method === CALL_TOOL && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(server !== undefined && { 'parley.server': server }),
    ...(failure && { 'error.type': failure.type }),
  };
}

interface Failure {
  type: string;
  message?: string;
  attributes?: Attributes;
}

const TOOL_FAILED: Failure = { type: 'tool_error' };

function toFailure(thrown: unknown): Failure {
  if (thrown instanceof ProtocolError) {
    const code = String(thrown.code);
    return { type: code, message: thrown.message, attributes: { 'rpc.response.status_code': code } };
  }
  return thrown instanceof GatewayError ? { type: thrown.code, message: thrown.message } : { type: 'INTERNAL' };
}

function nameOf(exchange: Exchange): string {
  const name = isNamed(exchange) ? ` ${exchange.params.name.slice(0, MAX_NAME)}` : '';
  return `mcp ${toMethodLabel(exchange.method)}${name}`;
}

function attributesOf(exchange: Exchange): Attributes {
  const { id, method, params, client } = exchange;
  return {
    'mcp.method.name': method,
    'mcp.protocol.version': client.revision,
    'parley.exchange': id,
    ...(method === CALL_TOOL && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(isNamed(exchange) && { [`gen_ai.${method === CALL_TOOL ? 'tool' : 'prompt'}.name`]: exchange.params.name }),
    ...(method.startsWith('resources/') && typeof params.uri === 'string' && { 'mcp.resource.uri': params.uri }),
  };
}

function isNamed(exchange: Exchange): exchange is Exchange & { params: { name: string } } {
  const { method, params } = exchange;
  return (method === CALL_TOOL || method === GET_PROMPT) && typeof params.name === 'string';
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

/**
 * The W3C trace context of a message as an OpenTelemetry span context; undefined if it has no valid one. The process's propagator is not used,
 * because MCP messages always carry W3C headers (SEP-414), whatever that process uses elsewhere.
 */
export function toSpanContext(
  trace: TraceContext | undefined,
  createTraceState: (raw: string) => TraceState,
): SpanContext | undefined {
  const match = TRACEPARENT.exec(trace?.traceparent ?? '');
  if (!match) return undefined;
  const [, traceId, spanId, flags] = match as unknown as [string, string, string, string];
  const state = trace!.tracestate ? { traceState: createTraceState(trace!.tracestate) } : {};
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true, ...state };
}

/** Baggage is passed on unchanged. */
function toTraceContext(span: SpanContext, baggage: string | undefined): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span;
  const tracestate = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(tracestate && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}
