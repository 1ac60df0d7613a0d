// What an author of a server writes and is given. Types of the official SDK wherever it has one.
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
import type { ClientView, TraceContext } from '../protocol/exchange.ts';
import type { EventStore } from '../protocol/event-store.ts';
import type { JsonObject } from '../protocol/message.ts';
import type { Clock } from '../shared/clock.ts';
import type { Identify } from '../gateway/accept/identify.ts';
import type { GatewayAskOptions } from '../gateway/ask/ask-channels.ts';
import type { Limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';

export type { MaybePromise } from '../client/types.ts';

/** A plain JSON Schema, or any Standard Schema that can tell its JSON Schema (zod 4, valibot, arktype …). */
export type Schema = JsonObject | StandardSchemaV1;

/** The value a schema lets through. */
export type Output<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : JsonObject;

/** Restricts a definition to some clients, so that one name can have one definition per dialect and revision. */
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
  /** The result's structured part; validated before it is sent. */
  output?: O;
  annotations?: ToolAnnotations;
  /**
   * `optional`: may run as a task where the client can follow one; `required`: only as a task. Default: never.
   * Where the client did not ask for a task, the call becomes one at its first `status`, or after `taskGraceMs`.
   */
  task?: 'optional' | 'required';
}

/** Structured data, text, content blocks, or a whole result. Undefined is an empty result. */
export type ToolReturn = CallToolResult | ContentBlock[] | string | JsonObject | undefined | void;

export type ToolHandler<I> = (args: I, call: Call) => ToolReturn | Promise<ToolReturn>;

export interface ResourceOptions extends Described {
  name?: string;
  mimeType?: string;
  size?: number;
  annotations?: Annotations;
}

/** Text, bytes, contents, or a whole result. */
export type ResourceReturn = string | Uint8Array | ReadResourceResult | ReadResourceResult['contents'];

/** Undefined means that there is no such resource after all. */
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

/** What the user says, messages, or a whole result. */
export type PromptReturn = string | PromptMessage[] | GetPromptResult;

export type PromptGetter = (args: Record<string, string>, call: Call) => MaybePromise<PromptReturn>;

/** Values that fit what was typed so far; a description is shown where the revision has a place for it. */
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

/** What a handler is given beside its arguments. */
export interface Call {
  /** Stands in every log line about this call. */
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
   * In a task: what the client is told while it waits. A call that may become a task becomes one at the first; what it
   * asks before that is asked before there is a task. Elsewhere nothing.
   */
  status(message: string): void;
  notify(method: string, params?: JsonObject): void;
  /** Lets go of the HTTP stream where the client can come back for the answer; elsewhere does nothing. */
  releaseStream(retryMs?: number): void;
}

/** What the user answered. Only an accepted form has content. */
export type FormAnswer =
  | { action: 'accept'; content: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel'; content?: undefined };

/** Questions to the client's side. Each era spells them its own way; a handler cannot tell. */
export interface Asker {
  can(kind: 'elicit' | 'elicit-url' | 'sample' | 'sample-tools' | 'roots'): boolean;
  /** A form of flat fields; `schema` is its properties or a whole object schema. */
  elicit(form: { message: string; schema: JsonObject; key?: string }): Promise<FormAnswer>;
  elicitUrl(page: { message: string; url: string; key?: string; elicitationId?: string }): Promise<ElicitResult>;
  sample(
    request: CreateMessageRequestParams & { key?: string },
  ): Promise<CreateMessageResult | CreateMessageResultWithTools>;
  roots(options?: { key?: string }): Promise<Root[]>;
  ping(): Promise<void>;
}

export interface ServerOptions extends Implementation {
  instructions?: string;
  /** Only these revisions are spoken. Default: all. */
  revisions?: string[];
  /** Entries per page of a list. Default 100. */
  pageSize?: number;
  /** Cache hints on lists and reads. Default: not cacheable, private. */
  cache?: { ttlMs?: number; cacheScope?: 'public' | 'private' };
  /** Areas to declare though nothing is registered in them yet. */
  declare?: ('tools' | 'resources' | 'prompts' | 'logging' | 'completions')[];
  /** Keys that seal state given to clients, newest first (base64, 32 bytes each). Default: random per process. */
  keys?: string[];
  /** Who calls, from the HTTP request; default: the session or connection, `local` on the stateless era. */
  identify?: Identify;
  limits?: Partial<Limits>;
  /** Where the streams of a session are kept for clients that come back; one per session. Default: in memory. */
  events?: () => EventStore;
  /** How long a call that may become a task runs before it does, not counting the time it waits for answers. Default 100. */
  taskGraceMs?: number;
  /** How people are asked whose clients cannot be; `{}`: by a page and by their model. Default: not, unless flows are served. */
  ask?: GatewayAskOptions;
  /** How browsers of users reach this server, where that is not its own address. */
  publicUrl?: string;
  log?: Log;
  /** Where time comes from; for tests. */
  clock?: Clock;
}

/** A registered definition. */
export interface Registration {
  remove(): void;
}
