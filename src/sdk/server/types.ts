// Types for authors of servers. They use the official SDK's types where it has them.
import type {
  Annotations,
  CallToolResult,
  ContentBlock,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitResult,
  GetPromptResult,
  Icon,
  Implementation,
  LoggingLevel,
  PromptArgument,
  PromptMessage,
  ReadResourceResult,
  Resource,
  Root,
  ToolAnnotations,
} from '@modelcontextprotocol/client';
import type { MaybePromise } from '../client/types.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ClientView, TraceContext } from '../../kernel/exchange.ts';
import type { EventStore } from '../../mcp/eras/serve/serve-context.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import type { AuthOptions } from '../../mcp/listen/auth/auth-options.ts';
import type { Identify } from '../../mcp/listen/identify.ts';
import type { GatewayAskOptions } from '../../people/ask-channels.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import type { Log } from '../../kernel/base/log.ts';

export type { MaybePromise } from '../client/types.ts';

/** A plain JSON Schema, or a Standard Schema that can produce one (zod 4, valibot, arktype …). */
export type Schema = JsonObject | StandardSchemaV1;

/** The type of a checked value. */
export type Output<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : JsonObject;

/** Restricts a definition to some clients, so that a name can have one definition per dialect and revision. */
export interface Scope {
  dialects?: ClientView['dialect'][];
  revisions?: string[];
}

interface Described {
  title?: string;
  description?: string;
  icons?: Icon[];
  meta?: JsonObject;
  only?: Scope;
}

export interface ToolOptions<I extends Schema = JsonObject, O extends Schema = Schema> extends Described {
  /** Default: an object with any properties. Arguments are validated before the handler runs. */
  input?: I;
  /** Schema of the structured result, which is validated before it is sent. */
  output?: O;
  annotations?: ToolAnnotations;
  /**
   * `optional`: may run as a task if the client can follow one. `required`: only as a task. Default: never. If the client did not request a
   * task, the call becomes one at its first `status`, or after `taskGraceMs`.
   */
  task?: 'optional' | 'required';
}

/** Structured data, text, content blocks, or a whole result. Undefined is an empty result. */
type ToolReturn = CallToolResult | ContentBlock[] | string | JsonObject | undefined | void;

export type ToolHandler<I> = (args: I, call: Call) => MaybePromise<ToolReturn>;

/** Of a tool whose output schema has a type: data that fits, or a whole result. */
export type TypedToolHandler<I, O extends StandardSchemaV1> = (
  args: I,
  call: Call,
) => MaybePromise<StandardSchemaV1.InferInput<O> | CallToolResult>;

export interface ResourceOptions extends Described {
  name?: string;
  mimeType?: string;
  size?: number;
  annotations?: Annotations;
}

/** Text, bytes, contents, or a whole result. */
export type ResourceReturn = string | Uint8Array | ReadResourceResult | ReadResourceResult['contents'];

/** Undefined means that the resource does not exist. */
export type ResourceReader = (uri: string, call: Call) => MaybePromise<ResourceReturn | undefined>;

export type TemplateReader = (
  uri: string,
  variables: Record<string, string>,
  call: Call,
) => MaybePromise<ResourceReturn | undefined>;

export interface TemplateOptions extends ResourceOptions {
  /** Completers by variable. */
  complete?: Record<string, Completer>;
}

export interface PromptOptions extends Described {
  arguments?: PromptArgument[];
  complete?: Record<string, Completer>;
}

/** A user message, messages, or a whole result. */
export type PromptReturn = string | PromptMessage[] | GetPromptResult;

export type PromptGetter = (args: Record<string, string>, call: Call) => MaybePromise<PromptReturn>;

/** Values that complete what was typed. Revisions that can show a description do so. */
export type Completer = (
  value: string,
  context: { arguments: Record<string, string> },
) => MaybePromise<Completion[] | { values: Completion[]; total?: number; hasMore?: boolean }>;

export type Completion = string | { value: string; description?: string };

/** Resources that are not registered one by one; the provider owns its cursors. Undefined means "not mine". */
export interface ResourceProvider {
  list(
    cursor: string | undefined,
    call: Call,
  ): MaybePromise<{ resources: Resource[]; nextCursor?: string } | undefined>;
  read(uri: string, call: Call): MaybePromise<ResourceReturn | undefined>;
}

/** The second argument of a handler. */
export interface Call {
  /** Appears in every log line about this call. */
  readonly id: string;
  readonly client: ClientView;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
  /** `_meta` of the request, without the keys that belong to the protocol. */
  readonly meta: JsonObject;
  readonly trace: TraceContext | undefined;
  readonly ask: Asker;
  progress(progress: number, total?: number, message?: string): void;
  log(level: LoggingLevel, data: unknown, logger?: string): void;
  /**
   * In a task, the status that the client sees while it waits. The first status turns a call into a task if it may be one; questions before
   * it are asked without a task. Otherwise it does nothing.
   */
  status(message: string): void;
  notify(method: string, params?: JsonObject): void;
  /** Releases the HTTP stream if the client can come back for the answer; otherwise does nothing. */
  releaseStream(retryMs?: number): void;
}

/** What the user answered. Only an accepted form has content. */
export type FormAnswer =
  | { action: 'accept'; content: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel'; content?: undefined };

/** By a schema of a library, the content is what that makes of it. */
export type AnswerOf<S extends Schema> = S extends StandardSchemaV1
  ?
      | { action: 'accept'; content: StandardSchemaV1.InferOutput<S> }
      | { action: 'decline' | 'cancel'; content?: undefined }
  : FormAnswer;

/** Requests to the client and its user. They work the same in every era. */
export interface Asker {
  can(kind: 'elicit' | 'elicit-url' | 'sample' | 'sample-tools' | 'roots'): boolean;
  /**
   * A form of flat fields. `schema`: its properties, a whole object schema, or a Standard Schema of an object, such as one of zod, which also
   * gives the answer its type.
   */
  elicit<const S extends Schema>(form: { message: string; schema: S; key?: string }): Promise<AnswerOf<S>>;
  elicitUrl(page: { message: string; url: string; key?: string; elicitationId?: string }): Promise<ElicitResult>;
  sample(
    request: CreateMessageRequestParams & { key?: string },
  ): Promise<CreateMessageResult | CreateMessageResultWithTools>;
  roots(options?: { key?: string }): Promise<Root[]>;
  ping(): Promise<void>;
}

export interface ServerOptions extends Implementation {
  instructions?: string;
  /** The only revisions to speak. Default: all. */
  revisions?: string[];
  /** Entries per page of a list. Default 100. */
  pageSize?: number;
  /** Cache hints on lists and reads. Default: not cacheable, private. */
  cache?: { ttlMs?: number; cacheScope?: 'public' | 'private' };
  /** Areas to declare even if nothing is registered in them yet. */
  declare?: ('tools' | 'resources' | 'prompts' | 'logging' | 'completions')[];
  /** Keys that seal state given to clients, newest first (base64, 32 bytes each). Default: random per process. */
  keys?: string[];
  /** Identifies the caller from the HTTP request. Default: the session or connection, `local` on the stateless era. */
  identify?: Identify;
  /** Who may call: API keys, and tokens of issuers. Not beside `identify`. */
  auth?: Omit<AuthOptions, 'toolScopes'>;
  limits?: Partial<Limits>;
  /** Stores the streams of a session for clients that reconnect; one per session. Default: in memory. */
  events?: () => EventStore;
  /** How long a call may run before it becomes a task, without the time it waits for answers. Default 100. */
  taskGraceMs?: number;
  /**
   * How to ask users whose clients cannot ask them. Default: on a page, and through their model; with `{ channels: [] }` not at all, unless
   * flows are served.
   */
  ask?: GatewayAskOptions;
  /** The URL by which browsers of users reach this server, if that is not its own address. */
  publicUrl?: string;
  log?: Log;
  /** Source of time, for tests. */
  clock?: Clock;
}

/** A registered definition. */
export interface Registration {
  remove(): void;
}
