// The OpenTelemetry SDK of this process, found where every version of its API registers it. Parley loads no API of its own: a copy beside that of the SDK
// finds nothing as soon as it is newer than the SDK's, and says nothing about it. What the API would add to the registered parts is here, in a few lines.
import type {
  Context,
  ContextManager,
  MeterProvider,
  Span,
  SpanContext,
  TraceState,
  TracerProvider,
} from '@opentelemetry/api';

/** What is registered. The name of the symbol belongs to all versions 1.x. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');
/** Where every version keeps the span of a context. */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

export const SERVER_SPAN = 1;
export const CLIENT_SPAN = 2;
export const FAILED = 2;

interface Registered {
  readonly version?: string;
  readonly trace?: TracerProvider;
  readonly context?: ContextManager;
  readonly metrics?: MeterProvider;
}

/** Undefined without an SDK. */
export function registeredOtel(): Registered | undefined {
  return (globalThis as { [REGISTERED]?: Registered })[REGISTERED];
}

/** Contexts, as the registered manager has them; without one, nothing is active. */
export class OtelContexts {
  readonly #manager: ContextManager | undefined = registeredOtel()?.context;

  active(): Context {
    return this.#manager?.active() ?? NOTHING;
  }

  run<A, R>(context: Context, work: (given: A) => R, given: A): R {
    return this.#manager ? this.#manager.with(context, work, undefined, given) : work(given);
  }

  spanContextIn(context: Context): SpanContext | undefined {
    return (context.getValue(SPAN) as Span | undefined)?.spanContext();
  }

  withSpan(context: Context, span: Span): Context {
    return context.setValue(SPAN, span);
  }

  /** A span of another process is its context and nothing else. */
  withSpanContext(context: Context, own: SpanContext): Context {
    return context.setValue(SPAN, new ForeignSpan(own));
  }
}

const NO_ID = /^0*$/;

export function isValidSpan({ traceId, spanId }: SpanContext): boolean {
  return !NO_ID.test(traceId) && !NO_ID.test(spanId);
}

class OwnContext implements Context {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown> = new Map()) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return new OwnContext(new Map([...this.#values, [key, value]]));
  }

  deleteValue(key: symbol): Context {
    return new OwnContext(new Map([...this.#values].filter(([one]) => one !== key)));
  }
}

const NOTHING: Context = new OwnContext();

class ForeignSpan implements Span {
  readonly #own: SpanContext;

  constructor(own: SpanContext) {
    this.#own = own;
  }

  spanContext = (): SpanContext => this.#own;
  setAttribute = (): this => this;
  setAttributes = (): this => this;
  addEvent = (): this => this;
  addLink = (): this => this;
  addLinks = (): this => this;
  setStatus = (): this => this;
  updateName = (): this => this;
  end = (): void => {};
  isRecording = (): boolean => false;
  recordException = (): void => {};
}

/** The W3C header `tracestate`: what others wrote stays as they wrote it. */
export function createTraceState(raw: string): TraceState {
  return new RawTraceState(
    raw
      .split(',')
      .map((pair) => pair.trim())
      .filter((pair) => pair.includes('=')),
  );
}

class RawTraceState implements TraceState {
  readonly #pairs: readonly string[];

  constructor(pairs: readonly string[]) {
    this.#pairs = pairs;
  }

  get(key: string): string | undefined {
    return this.#pairs.find((pair) => pair.startsWith(`${key}=`))?.slice(key.length + 1);
  }

  set(key: string, value: string): TraceState {
    return new RawTraceState([`${key}=${value}`, ...this.#without(key)]);
  }

  unset(key: string): TraceState {
    return new RawTraceState(this.#without(key));
  }

  serialize(): string {
    return this.#pairs.join(',');
  }

  #without(key: string): string[] {
    return this.#pairs.filter((pair) => !pair.startsWith(`${key}=`));
  }
}
