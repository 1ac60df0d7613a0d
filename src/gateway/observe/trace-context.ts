// Converts between the W3C trace context of a message and an OpenTelemetry span context. It does not use the process's
// propagator, because MCP messages always carry W3C headers (SEP-414), whatever that process uses elsewhere.
import type { SpanContext, TraceState } from '@opentelemetry/api';
import type { TraceContext } from '../../protocol/exchange.ts';

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

/** Undefined if the message has no valid context. */
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
export function toTraceContext(span: SpanContext, baggage: string | undefined): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span;
  const tracestate = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(tracestate && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}
