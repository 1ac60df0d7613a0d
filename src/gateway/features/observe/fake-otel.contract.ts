// A minimal OpenTelemetry SDK for tests, made through the API alone: it records spans.
import { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, context, trace } from '@opentelemetry/api';
import type {
  Attributes,
  Context,
  ContextManager,
  Span,
  SpanContext,
  SpanKind,
  SpanOptions,
  SpanStatus,
} from '@opentelemetry/api';

class FakeSpan implements Span {
  readonly name: string;
  readonly kind: SpanKind | undefined;
  readonly parent: SpanContext | undefined;
  readonly links: SpanContext[];
  readonly attributes: Attributes;
  readonly #own: SpanContext;
  status: SpanStatus | undefined;
  ended = 0;

  constructor(name: string, options: SpanOptions, parent: SpanContext | undefined, number: number) {
    this.name = name;
    this.kind = options.kind;
    this.parent = parent;
    this.links = (options.links ?? []).map((link) => link.context);
    this.attributes = { ...options.attributes };
    const traceId = parent?.traceId ?? `${number}`.padStart(32, 'a');
    this.#own = { ...parent, traceId, spanId: `${number}`.padStart(16, 'b'), traceFlags: 1, isRemote: false };
  }

  spanContext(): SpanContext {
    return this.#own;
  }

  setAttribute(key: string, value: Attributes[string]): this {
    if (value !== undefined) this.attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.attributes, attributes);
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.status = status;
    return this;
  }

  end(): void {
    this.ended++;
  }

  addEvent = (): this => this;
  addLink = (): this => this;
  addLinks = (): this => this;
  updateName = (): this => this;
  isRecording = (): boolean => this.ended === 0;
  recordException = (): void => {};
}

/** Call `disable` to remove it. */
export function registerFakeOtel(): { spans: FakeSpan[]; disable(): void } {
  const spans: FakeSpan[] = [];
  const startSpan = (name: string, options: SpanOptions = {}, within: Context = context.active()): Span => {
    const span = new FakeSpan(name, options, trace.getSpanContext(within), spans.length + 1);
    spans.push(span);
    return span;
  };
  const startActiveSpan = (): never => {
    throw new Error('not used');
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }) });
  context.setGlobalContextManager(createContextManager());
  return {
    spans,
    disable() {
      trace.disable();
      context.disable();
    },
  };
}

function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (context, work, self, ...args) => storage.run(context, () => work.apply(self, args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
