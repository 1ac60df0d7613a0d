// Creates OpenTelemetry spans through the API: one for each exchange, and one for each call that it makes to a server.
// 1. The parent is the context of the message, or else the active span (such as that of the HTTP request).
// 2. The request to the server carries the context of our span. Without a recorder, it carries the client's context unchanged.
// 3. Attributes follow the conventions for MCP (https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp), and never include
//    arguments or results.
import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Span, SpanContext, SpanKind, Tracer, TraceState } from '@opentelemetry/api';
import type { Handle, HandleResult } from '../../../kernel/target.ts';
import { deriveExchange } from '../../../kernel/derived-exchange.ts';
import type { Exchange, TraceContext } from '../../../kernel/exchange.ts';
import { CALL_TOOL, GET_PROMPT } from '../../../kernel/methods.ts';
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { tapOutcome, toMethodLabel } from './metrics.ts';

type Api = typeof OpenTelemetry;

/** Where every version of the API keeps the registered SDK. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Limits the tool name in a span name; only made-up names are longer. */
const MAX_NAME = 128;

/** Whether this process has an SDK that records spans. */
export function hasTracing(): boolean {
  const registered = (globalThis as { [REGISTERED]?: { trace?: unknown } })[REGISTERED];
  return registered?.trace !== undefined;
}

export class ExchangeTracer {
  readonly #api: Api = process.getBuiltinModule('node:module').createRequire(import.meta.url)(
    '@opentelemetry/api',
  ) as Api;
  readonly #tracer: Tracer = this.#api.trace.getTracer('mcp-parley');

  /** The server span of a client's request. */
  serve(exchange: Exchange, handle: Handle): HandleResult {
    return this.#around(exchange, handle, this.#api.SpanKind.SERVER);
  }

  /** The client span of a call to a server. */
  call(server: string, exchange: Exchange, handle: Handle): HandleResult {
    return this.#around(exchange, handle, this.#api.SpanKind.CLIENT, server);
  }

  #around(exchange: Exchange, handle: Handle, kind: SpanKind, server?: string): HandleResult {
    const { trace, context } = this.#api;
    const active = context.active();
    const came = toSpanContext(exchange.trace, this.#api.createTraceState);
    const parent = came ? trace.setSpanContext(active, came) : active;
    const ambient = came && server === undefined ? trace.getSpanContext(active) : undefined;
    const links = ambient ? [{ context: ambient }] : [];
    const span = this.#tracer.startSpan(nameOf(exchange), { kind, attributes: attributesOf(exchange), links }, parent);
    if (server !== undefined) span.setAttribute('parley.server', server);
    const carried = this.#carry(exchange, span, came);
    return tapOutcome(
      carried,
      { handle: (one) => context.with(trace.setSpan(parent, span), handle, undefined, one) },
      (result) => this.#end(span, exchange, fieldOf(result, 'isError') === true ? TOOL_FAILED : undefined),
      (thrown) => this.#end(span, exchange, toFailure(thrown)),
    );
  }

  /** A span that is not recorded has no context of its own. */
  #carry(exchange: Exchange, span: Span, came: SpanContext | undefined): Exchange {
    const own = span.spanContext();
    if (!this.#api.isSpanContextValid(own) || own.spanId === came?.spanId) return exchange;
    return deriveExchange(exchange, { trace: toTraceContext(own, exchange.trace?.baggage) });
  }

  #end(span: Span, { server }: Exchange, failure: Failure | undefined): void {
    if (server !== undefined) span.setAttribute('parley.server', server);
    if (failure) {
      span.setAttributes({ 'error.type': failure.type, ...failure.attributes });
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, ...(failure.message && { message: failure.message }) });
    }
    span.end();
  }
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
