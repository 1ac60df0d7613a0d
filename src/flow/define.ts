// What an author writes: a description of the tool, and one async function that asks.
import { hash } from 'node:crypto';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Icon, ToolAnnotations } from '@modelcontextprotocol/client';
import type { JsonObject } from '../protocol/message.ts';
import { toCheckedSchema } from '../server/schema/schema.ts';
import type { CheckedSchema } from '../server/schema/schema.ts';
import { GatewayError } from '../shared/errors.ts';
import type { Ask } from './authoring/ask.ts';
import { checkOptionNames } from './authoring/known-options.ts';
import type { NamesOf } from './authoring/known-options.ts';
import type { AnySchema } from './authoring/options.ts';
import type { Span } from './authoring/span.ts';
import { toMs } from './authoring/span.ts';
import type { Catalogue } from './authoring/messages.ts';

export interface FlowOptions<I extends AnySchema = AnySchema, O extends AnySchema = AnySchema> {
  name: string;
  title?: string;
  description?: string;
  icons?: Icon[];
  annotations?: ToolAnnotations;
  meta?: JsonObject;
  /** Arguments. Those that are named like a question answer it. */
  input?: I;
  output?: O;
  /** Part of what tells two versions of the function apart; its source is the other part. */
  version?: string;
  /** How long a session waits for its user. Default 5 minutes. */
  timeout?: Span;
  /** How long the client waits for the first question before the session fails. Default 60 s. */
  firstQuestion?: Span;
  limits?: { prompts?: number; duration?: Span; attempts?: number };
  /** Texts for `msg(id, params)`, by locale. */
  messages?: Catalogue;
  /** False: the function is never run with made-up answers to find its questions. */
  explore?: boolean;
  /**
   * What happens to an open session in which a key was a step and is a question now, or the other way round, or in which an effect is not
   * asked for any more. `fail`, the default: its turns are refused, and it is parked for a version that knows it. `reask`: what was there
   * is passed over.
   */
  onMismatch?: 'fail' | 'reask';
  /** What has become of keys, for sessions that are open while a new version is deployed. */
  migrate?: Migration;
  /** Takes long; channels that can let go of the client do so. */
  long?: boolean;
  /** What a finished session says of itself. Default `Completed successfully`. */
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

export interface Migration {
  /** Steps and questions with another key now, `{ old: 'new' }`. Do not use an old key for something else while such sessions are open. */
  renamed?: Readonly<Record<string, string>>;
  /** Effects that are not asked for any more. What they have done stays. */
  dropped?: readonly string[];
}

export type InputOf<I> = I extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<I>
  : Readonly<Record<string, unknown>>;
export type ResultOf<O> = O extends StandardSchemaV1 ? StandardSchemaV1.InferInput<O> : unknown;
export type FlowBody<I, R> = (ask: Ask, input: I) => Promise<R>;

/** A flow, ready to be served. */
export interface Flow<I = unknown, R = unknown> {
  readonly name: string;
  readonly options: Omit<FlowOptions, 'name' | 'input' | 'output'>;
  readonly input: CheckedSchema | undefined;
  readonly output: CheckedSchema | undefined;
  /** Of this function: the author's version and a hash of its source. */
  readonly version: string;
  readonly timeoutMs: number | undefined;
  readonly body: FlowBody<I, R>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- flows of all kinds are kept in one list
export type AnyFlow = Flow<any, any>;

export function flow<
  I extends AnySchema = JsonObject,
  O extends AnySchema = JsonObject,
  R extends ResultOf<O> = ResultOf<O>,
>(options: FlowOptions<I, O>, body: FlowBody<InputOf<I>, R>): Flow<InputOf<I>, R> {
  const { name, input, output, ...rest } = options;
  checkOptionNames(options, FLOW_OPTIONS, 'flow()');
  if (typeof name !== 'string' || name === '') {
    throw new GatewayError('BAD_OPTION', { option: 'name of a flow', reason: 'must be a string that is not empty' });
  }
  return Object.freeze({
    name,
    options: rest,
    input: input && toCheckedSchema(input, { side: 'input', option: `input of flow ${name}` }),
    output: output && toCheckedSchema(output, { side: 'output', option: `output of flow ${name}` }),
    version: toVersion(rest.version, body),
    timeoutMs: rest.timeout === undefined ? undefined : toMs(rest.timeout, `timeout of flow ${name}`),
    body,
  });
}

function toVersion(version = '', body: FlowBody<never, unknown>): string {
  return `${version}.${hash('sha256', body.toString(), 'base64url').slice(0, 11)}`;
}
