// What a request can be handed to: a server written with Parley, an upstream, a set of flows, or a chain of steps before them.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Ask, ClientView, Exchange, LogEntry } from './exchange.ts';
import type { JsonObject, NotificationMessage } from './message.ts';
import type { OpenPages } from './open-pages.ts';
import type { ResultObject } from './raw/raw-object.ts';
import type { Family } from '../shared/metric.ts';

export interface Target {
  readonly info: Implementation;
  readonly instructions?: string | undefined;
  /** Members of the server's own in its answer to `initialize` or `server/discover`, `_meta` among them. */
  greeting?(client: ClientView): JsonObject | undefined;
  /**
   * Passes a log level on to whoever knows levels, as the client sent it; rejects in the server's words where it is refused. Undefined
   * or absent: nobody has to be told.
   */
  setLevel?(level: unknown, client: ClientView): Promise<void> | undefined;
  /** What it offers to this client, in the newest spelling. Present keys only; `tasks` where tools may run as tasks. */
  capabilities(client: ClientView): ServerCapabilities;
  /**
   * Answers one request. The result is the newest spelling without what dialects add (`resultType`, `serverInfo`):
   * lists may carry `ttlMs` and `cacheScope`; a call that became a task answers `{ task }`, one that is to be made again
   * with answers says so (suspended-call.ts); completion values may be
   * `{ value, description }`. Failures are thrown as GatewayError or ProtocolError. A large result that nobody had to read
   * may be a RawObject.
   */
  handle(exchange: Exchange): Promise<ResultObject> | ResultObject;
  /** Of one that may be away: its state and, while it is not up, why. Absent: it is always there. */
  readonly status?: { readonly state: string; readonly problem?: Error | undefined } | undefined;
  /**
   * Resolves when `capabilities` tells the truth, as far as it ever will; never rejects. Absent: it always does. What is
   * known of the client that waits for it helps to open just the connection that it will need.
   */
  ready?(opening?: ClientOpening): Promise<void>;
  /** Calls back on every change until the returned function is called. `watcher` is the client that wants to know. */
  watch(listener: (change: Change) => void, watcher?: Watcher): () => void;
  /**
   * Makes sure that a resource is told of, where a server has to be asked for that; ends with the client's watch. Rejects
   * where it cannot be. Absent: all are.
   */
  subscribe?(uri: string, client: ClientView): Promise<void>;
  /** Makes sure that a task is told of, where a server has to be asked for that. Rejects where it cannot be. Absent: all are. */
  followTask?(taskId: string, client: ClientView): Promise<void>;
  /** Something a client says without wanting an answer, such as that its roots have changed. */
  notify?(notification: NotificationMessage, client: ClientView): void;
  /** It lets requests with a tool of the gateway's own (gateway-tool.ts) pass its steps, and answers them. */
  readonly takesOwnTools?: boolean | undefined;
  /** What it counts of its own, for /metrics. Labels come from its code, never from clients. */
  metrics?(): Promise<Family[]>;
  /** What it serves beside MCP to whoever knows the URL. Absent: nothing. */
  readonly open?: OpenPages | undefined;
  /** How the tool expects arguments to be mirrored into HTTP headers; undefined when there is no such tool. */
  inputSchema?(tool: string, client: ClientView): JsonObject | undefined;
}

export type HandleResult = ReturnType<Target['handle']>;
export type Handle = (exchange: Exchange) => HandleResult;

/** What a client says of itself before it is a client. */
export type ClientOpening = Pick<ClientView, 'dialect' | 'capabilities' | 'assisted'> &
  Partial<Pick<ClientView, 'info' | 'greeting'>>;

export interface Watcher {
  readonly client: ClientView;
  /** Puts a question that belongs to no request of the client; absent where the client's era knows none such. */
  ask?(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
  /** Tells it something that belongs to no request of it, where that can be. */
  notify?(method: string, params?: JsonObject): void;
  /** Whether it is connected, or waits for something; absent: as long as it watches. */
  isPresent?(): boolean;
}

/** Something a client may have to be told though it has not asked just now. */
export type Change = ChangeOfKind & {
  /** Members of the server's notification that the protocol does not name, `_meta` among them. */
  more?: JsonObject | undefined;
};

type ChangeOfKind =
  | { kind: 'tools'; added?: { name: string; description?: string | undefined }[]; removed?: string[] }
  | { kind: 'prompts' | 'resources' }
  /** `isDirect`: it came on the client's own connection, and is passed on whether or not the client subscribed. */
  | {
      kind: 'resource';
      uri: string;
      name?: string | undefined;
      isDirect?: boolean | undefined;
      /** Whose it is, and its URI there, where the router has told. */
      origin?: { server: string; name: string } | undefined;
    }
  | { kind: 'task'; task: TaskState; principal: string }
  | { kind: 'log'; entry: LogEntry }
  | { kind: 'elicited'; elicitationId: string }
  /** A notification of the server's own that belongs to no call. */
  | { kind: 'notification'; method: string; params?: JsonObject | undefined };

/** The key of `_meta` that names the task to which a message belongs. */
export const RELATED_TASK_KEY = 'io.modelcontextprotocol/related-task';

/** A long-running call, in neutral words: times in ISO 8601, spans in milliseconds. */
export interface TaskState {
  taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number | null;
  pollIntervalMs?: number;
  /** Open questions by key; only while `input_required`. */
  inputRequests?: { [key: string]: { method: string; params?: JsonObject } };
  /** The call's result; only when `completed`. */
  result?: JsonObject;
  /** The protocol error; only when `failed`. */
  error?: { code: number; message: string; data?: unknown };
}

/** Nothing more will become of it. */
export function hasEnded({ status }: Pick<TaskState, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
