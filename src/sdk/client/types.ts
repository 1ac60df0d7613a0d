// Types for programs that call servers. They use the official SDK's types where it has them.
import type {
  CallToolResult,
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitRequestParams,
  ElicitResult,
  Implementation,
  Root,
  ToolAnnotations,
} from '@modelcontextprotocol/client';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { CallOptions } from '../../kernel/server-view.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { TaskState } from '../../kernel/target.ts';
import type { CALL_TOOL, READ_RESOURCE } from '../../kernel/methods.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import type { Log } from '../../kernel/base/log.ts';

export type MaybePromise<T> = T | Promise<T>;

/** What the approver is asked about. */
export type Approval =
  | { kind: typeof CALL_TOOL; name: string; arguments: JsonObject; annotations?: ToolAnnotations | undefined }
  | { kind: typeof READ_RESOURCE; uri: string }
  | { kind: 'sampling'; request: CreateMessageRequestParams }
  | { kind: 'elicitation'; request: ElicitRequestParams }
  | { kind: 'roots' };

export interface AskContext {
  /** The server that asks; show it to the user. */
  server: Implementation | undefined;
  /** A gateway or flow says that only a person may answer: show the question, and never answer it from a program. */
  human?: boolean;
  signal: AbortSignal;
}

/**
 * While connecting, a server that is busy or starting (429, 502, 503, 504) is retried up to three times, never sooner than it asks for.
 * Calls are never repeated: their error has `retryAfterMs` if the server gave one. The only exception is a call with a session that the
 * server has forgotten, as it has not seen that call.
 */
export interface ConnectOptions {
  /** Name of this client. Default: mcp-parley. */
  name?: string;
  /** Default: the version of this package. */
  version?: string;
  /** The only revision to speak; `draft` for the draft dialect. Default: the newest that both sides know. */
  revision?: string;
  /** The era to try first, and to use with a server that speaks both. Default: `stateless`, the newer one. */
  prefer?: 'handshake' | 'stateless';
  /** Answers forms, and links with `elicitUrls`. Without it, elicitation is not declared. */
  onElicit?: (request: ElicitRequestParams, context: AskContext) => MaybePromise<ElicitResult>;
  /** `onElicit` also handles requests to open a link. */
  elicitUrls?: boolean;
  onSample?: (
    request: CreateMessageRequestParams,
    context: AskContext,
  ) => MaybePromise<CreateMessageResult | CreateMessageResultWithTools>;
  /** `onSample` can use the tools of a request. */
  sampleTools?: boolean;
  /** Folders the server may work in; file:// URIs. */
  roots?: Root[];
  /** Called before each call, read, sampling, elicitation and listing of roots; false refuses. Default: allow. */
  approve?: (kind: Approval['kind'], details: Approval) => MaybePromise<boolean>;
  /** Handlers for requests of the server that belong to an extension, by method. */
  requests?: Record<string, (params: JsonObject, context: AskContext) => MaybePromise<JsonObject>>;
  /** Further capabilities to declare, e.g. extensions. */
  capabilities?: ClientCapabilities;
  /** How long a call may be silent. Progress restarts the time, and an open question stops it. Default 60 s. */
  timeoutMs?: number;
  /** The longest that a call may take. Default 30 min. */
  maxTimeoutMs?: number;
  /** How long the first request on stdio and the like may stay unanswered before the server is taken for an older one. Default 5 s. */
  probeMs?: number;
  /**
   * Called with the link of a page on which a person has to log in at the server; open or show it. The redirect is received on a
   * loopback port. Without it, a server that needs a login is an error. Settings of the login: `auth` of the address.
   */
  onLogin?: (url: string) => unknown;
  limits?: Partial<Limits>;
  log?: Log;
}

/** Options of every call. */
export type ClientCallOptions = Pick<CallOptions, 'onProgress' | 'timeoutMs' | 'maxTimeoutMs' | 'trace'> & {
  signal?: AbortSignal | undefined;
};

export interface CallToolOptions<O extends StandardSchemaV1 = StandardSchemaV1> extends ClientCallOptions {
  /** Checks the structured content, and gives it its type. What does not fit is UPSTREAM_INVALID. */
  output?: O | undefined;
  /**
   * For a tool that is a flow: an id of 16 to 200 characters that nobody else has, such as a UUID. A call that is repeated with it
   * continues the same session, or gets its result.
   */
  startId?: string | undefined;
  /** Request a task if the server can run one; the call still resolves with the final result. */
  task?: boolean | { ttl?: number };
  /** Called with each state of the task, if the call became one. */
  onTask?: (task: TaskState) => void;
}

/** The result of a tool; a failed one has no structured content. */
export type TypedResult<O extends StandardSchemaV1> = CallToolResult & {
  structuredContent?: StandardSchemaV1.InferOutput<O>;
};
