// What a program that calls servers writes and is given. Types of the official SDK wherever it has one.
import type {
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
import type { ClientCallOptions } from './call-options.ts';
import type { JsonObject } from '../protocol/message.ts';
import type { TaskState } from '../protocol/target.ts';
import type { Limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';

export type MaybePromise<T> = T | Promise<T>;

/** What is put to the approver before it happens. */
export type Approval =
  | { kind: 'tools/call'; name: string; arguments: JsonObject; annotations?: ToolAnnotations | undefined }
  | { kind: 'resources/read'; uri: string }
  | { kind: 'sampling'; request: CreateMessageRequestParams }
  | { kind: 'elicitation'; request: ElicitRequestParams }
  | { kind: 'roots' };

export interface AskContext {
  /** Which server asks; show it to the user. */
  server: Implementation | undefined;
  signal: AbortSignal;
}

/**
 * A server that says it is busy or starting (429, 502, 503, 504) while we connect is tried again up to three times, never
 * sooner than it asks for. Calls are never repeated: their error has `retryAfterMs` where the server gave one. The one
 * exception is a call that met a session which the server had forgotten, because then the server has not seen it.
 */
export interface ConnectOptions {
  /** Who we are. Default: mcp-parley. */
  name?: string;
  /** Default: that of this package. */
  version?: string;
  /** The only revision to speak; `draft` for the draft dialect. Default: the newest that both know. */
  revision?: string;
  /** The era to try first, and to speak with a server that has both. Default: the newer, `stateless`. */
  prefer?: 'handshake' | 'stateless';
  /** Answers forms (and links, with `elicitUrls`). Without it the server is told that we cannot be asked. */
  onElicit?: (request: ElicitRequestParams, context: AskContext) => MaybePromise<ElicitResult>;
  /** `onElicit` also takes requests to open a link. */
  elicitUrls?: boolean;
  onSample?: (
    request: CreateMessageRequestParams,
    context: AskContext,
  ) => MaybePromise<CreateMessageResult | CreateMessageResultWithTools>;
  /** `onSample` can use the tools that a request brings along. */
  sampleTools?: boolean;
  /** Folders the server may work in; file:// URIs. */
  roots?: Root[];
  /** Asked before each call, read, sampling, elicitation and listing of roots; false refuses. Default: allow. */
  approve?: (kind: Approval['kind'], details: Approval) => MaybePromise<boolean>;
  /** Answers requests of the server that belong to an extension, by method. */
  requests?: Record<string, (params: JsonObject, context: AskContext) => MaybePromise<JsonObject>>;
  /** Further capabilities to declare, e.g. extensions. */
  capabilities?: ClientCapabilities;
  /** Silence allowed before a call is given up; progress starts it anew, open questions stop it. Default 60 s. */
  timeoutMs?: number;
  /** The longest a call may take in all. Default 30 min. */
  maxTimeoutMs?: number;
  /** Silence allowed to the first question on stdio and the like, before a server is taken for an older one. Default 5 s. */
  probeMs?: number;
  limits?: Partial<Limits>;
  log?: Log;
}

export interface CallToolOptions extends ClientCallOptions {
  /** Ask for a task where the server can run one; followed to its end all the same. */
  task?: boolean | { ttl?: number };
  /** Told of each state of the task, where the call became one. */
  onTask?: (task: TaskState) => void;
}
