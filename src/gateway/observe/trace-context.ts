// The W3C trace context of a message and the span context of OpenTelemetry, each as the other. By hand, and not by the
// propagator of the process: what MCP messages carry is W3C (SEP-414), whatever headers that process sends elsewhere.
import type { SpanContext, TraceState } from '@opentelemetry/api';
import type { TraceContext } from '../../protocol/exchange.ts';

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

/** Undefined when the message has none, or none that is valid. */
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

/** Baggage is passed on as it came. */
export function toTraceContext(span: SpanContext, baggage: string | undefined): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span;
  const tracestate = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(tracestate && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}
