// Defines a flow: the description of a tool, and one async function (the body) that asks questions.
import { hash } from 'node:crypto';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Icon, ToolAnnotations } from '@modelcontextprotocol/client';
import type { JsonObject } from '../kernel/message.ts';
import { toCheckedSchema } from '../sdk/server/schema.ts';
import type { CheckedSchema } from '../sdk/server/schema.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import type { Ask } from './authoring/ask.ts';
import { checkOptionNames } from './authoring/options.ts';
import type { NamesOf, AnySchema } from './authoring/options.ts';
import type { Span } from './authoring/span.ts';
import type { KeptAsJson } from './authoring/step.ts';
import { toMs, toSpanText } from './authoring/span.ts';
import { rememberDefinition } from './engine/misuse.ts';
import type { Catalogue } from './question/question.ts';
import { isObject } from '../kernel/message.ts';

export interface FlowOptions<I extends AnySchema = AnySchema, O extends AnySchema = AnySchema> {
  name: string;
  title?: string;
  description?: string;
  icons?: Icon[];
  annotations?: ToolAnnotations;
  meta?: JsonObject;
  /** Arguments. An argument with the key of a question answers that question. */
  input?: I;
  output?: O;
  /** Two bodies are the same version if this and their source are equal. */
  version?: string;
  /** How long a session waits for its user. Default: 5 minutes. At most 24 hours (`limits.maxTimeoutMs` of `serveFlows`). */
  timeout?: Span;
  /** How long the client waits for the first question before the session fails. Default: 60 s. */
  firstQuestion?: Span;
  limits?: { prompts?: number; duration?: Span; attempts?: number };
  /** Texts for `msg(id, params)`, by locale. */
  messages?: Catalogue;
  /** False: the body is never run with made-up answers to find its questions. */
  explore?: boolean;
  /**
   * What happens to an open session when a new version turns a step into a question (or the reverse), or no longer runs an effect that
   * has begun. `fail` (default): its turns are refused, and it is parked until a version that fits is served. `reask`: the old entry is
   * ignored.
   */
  onMismatch?: 'fail' | 'reask';
  /** Renamed and dropped keys, for sessions that are open while a new version is deployed. */
  migrate?: Migration;
  /** The flow takes long, so channels that can run it as a task do so. */
  long?: boolean;
  /** The summary of a completed session. Default: `Completed successfully`. */
  summary?: string;
}

const FLOW_OPTIONS: NamesOf<FlowOptions> = {
  name: true,
  title: true,
  description: true,
  icons: true,
  annotations: true,
  meta: true,
  input: true,
  output: true,
  version: true,
  timeout: true,
  firstQuestion: true,
  limits: true,
  messages: true,
  explore: true,
  onMismatch: true,
  migrate: true,
  long: true,
  summary: true,
};

interface Migration {
  /** New keys of steps and questions, `{ old: 'new' }`. Do not reuse an old key while sessions that have it are open. */
  renamed?: Readonly<Record<string, string>>;
  /** Effects that the body no longer runs. They are not undone. */
  dropped?: readonly string[];
}

export type InputOf<I> = I extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<I>
  : Readonly<Record<string, unknown>>;
export type ResultOf<O> = O extends StandardSchemaV1 ? StandardSchemaV1.InferInput<O> : unknown;
type FlowBody<I, R> = (ask: Ask, input: I) => Promise<R>;

/** A flow, ready to be served. */
export interface Flow<I = unknown, R = unknown> {
  readonly name: string;
  readonly options: Omit<FlowOptions, 'name' | 'input' | 'output'>;
  readonly input: CheckedSchema | undefined;
  readonly output: CheckedSchema | undefined;
  /** The author's version and a hash of the body's source. */
  readonly version: string;
  readonly timeoutMs: number | undefined;
  readonly body: FlowBody<I, R>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- flows of all kinds are kept in one list
export type AnyFlow = Flow<any, any>;

/**
 * A tool written as one async function that asks its user.
 *
 * @example
 * ```ts
 * import { flow } from 'mcp-parley/flow';
 *
 * export const trip = flow({ name: 'trip', description: 'Book a trip' }, async (ask) => {
 *   const city = await ask.text('city', { message: 'Where to?' });
 *   const id = await ask.step('book', async (step) => `${city}-${step.idempotencyKey}`, { effect: 'retry' });
 *   return `Booked: ${id}`;
 * });
 * ```
 */
export function flow<
  I extends AnySchema = JsonObject,
  O extends AnySchema = JsonObject,
  R extends ResultOf<O> = ResultOf<O>,
>(options: FlowOptions<I, O>, body: FlowBody<InputOf<I>, R> & KeptAsJson<R>): Flow<InputOf<I>, R> {
  const { name, input, output, ...rest } = options;
  checkOptionNames(options, FLOW_OPTIONS, 'flow()');
  if (typeof name !== 'string' || name === '') {
    throw new GatewayError('BAD_OPTION', { option: 'name of a flow', reason: 'must be a string that is not empty' });
  }
  rememberDefinition(body);
  const timeoutMs = rest.timeout === undefined ? undefined : toMs(rest.timeout, `timeout of flow ${name}`);
  checkFlowSpans(rest, `flow ${name}`);
  return Object.freeze({
    name,
    options: rest,
    input: input && toCheckedSchema(input, { side: 'input', option: `input of flow ${name}` }),
    output: output && toCheckedSchema(output, { side: 'output', option: `output of flow ${name}` }),
    version: toVersion(rest.version, body),
    timeoutMs,
    body,
  });
}

/** No part of a session is longer than the whole. */
function checkFlowSpans(
  { timeout, firstQuestion, limits }: Pick<FlowOptions, 'timeout' | 'firstQuestion' | 'limits'>,
  of: string,
) {
  if (limits?.duration === undefined) return;
  const durationMs = toMs(limits.duration, `limits.duration of ${of}`);
  for (const [name, span] of Object.entries({ timeout, firstQuestion })) {
    const ms = span === undefined ? 0 : toMs(span, `${name} of ${of}`);
    if (ms <= durationMs) continue;
    const reason = `${toSpanText(ms)} is longer than limits.duration, ${toSpanText(durationMs)}`;
    throw new GatewayError('BAD_OPTION', { option: `${name} of ${of}`, reason });
  }
}

/** How long a session of the flow may last. One that waits longer for its user than others last may last as long as it waits. */
export function toDurationMs({ options, timeoutMs = 0 }: AnyFlow, { durationMs }: { durationMs: number }): number {
  const own = options.limits?.duration;
  return own === undefined ? Math.max(durationMs, timeoutMs) : toMs(own, 'limits.duration');
}

function toVersion(version = '', body: FlowBody<never, unknown>): string {
  return `${version}.${hash('sha256', body.toString(), 'base64url').slice(0, 11)}`;
}

/** The flows that a module exports, under any name. */
export function findExportedFlows(module: unknown): AnyFlow[] {
  const exported = isObject(module) ? module : {};
  return [...new Set(Object.values(exported).flat())].filter(isFlow);
}

export function isFlow(value: unknown): value is AnyFlow {
  return isObject(value) && typeof value.name === 'string' && typeof value.body === 'function' && 'timeoutMs' in value;
}
