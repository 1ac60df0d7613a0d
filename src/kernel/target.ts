// A target answers requests: a server written with Parley, an upstream, a set of flows, or a chain of steps in front of them. A layer is a target that
// wraps another one.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { HttpHandler, HttpRequest } from './base/http.ts';
import type { Family } from './base/metric.ts';
import type { Ask, ClientView, Exchange, LogEntry } from './exchange.ts';
import type { PageLogin } from './login-pages.ts';
import { randomId } from './crypto/ids.ts';
import { isObject } from './message.ts';
import type { JsonObject, NotificationMessage } from './message.ts';
import { RawObject } from './raw/raw-object.ts';
import type { ResultObject } from './raw/raw-object.ts';

export interface Target {
  readonly info: Implementation;
  readonly instructions?: string | undefined;
  /**
   * Fields of the server's `initialize` or `server/discover` answer that the protocol does not define, `_meta` among
   * them.
   */
  greeting?(client: ClientView): JsonObject | undefined;
  /**
   * Passes on a log level as the client sent it; rejects with the server's error. Undefined or absent if no server
   * needs it.
   */
  setLevel?(level: unknown, client: ClientView): Promise<void> | undefined;
  /** What it offers to this client, in the newest form. `tasks` is present if tools may run as tasks. */
  capabilities(client: ClientView): ServerCapabilities;
  /**
   * Answers one request. The result is in the newest form, without what dialects add (`resultType`, `serverInfo`).
   * Lists may carry `ttlMs` and `cacheScope`; a call that became a task returns `{ task }`; one that returns questions
   * is a `SuspendedCall`; completion values may be `{ value, description }`. Failures are thrown as GatewayError
   * or ProtocolError. A large unparsed result may be a RawObject.
   */
  handle(exchange: Exchange): Promise<ResultObject> | ResultObject;
  /** The state of a target that may be down and, if it is, why. Absent if it is always up. */
  readonly status?: { readonly state: string; readonly problem?: Error | undefined } | undefined;
  /**
   * Resolves when `capabilities` is final; never rejects. Absent if it always is. The opening helps to open the
   * connection that the client will need.
   */
  ready?(opening?: ClientOpening): Promise<void>;
  /** Calls back on every change until the returned function is called. `watcher` is the interested client. */
  watch(listener: (change: Change) => void, watcher?: Watcher): () => void;
  /**
   * Subscribes to a resource at its server, until the client's watch ends. Rejects if the server refuses. Absent if all
   * changes are reported anyway.
   */
  subscribe?(uri: string, client: ClientView): Promise<void>;
  /** Subscribes to a task at its server. Rejects if the server refuses. Absent if all tasks are reported anyway. */
  followTask?(taskId: string, client: ClientView): Promise<void>;
  /** Passes on a client's notification, such as changed roots. */
  notify?(notification: NotificationMessage, client: ClientView): void;
  /** What it has, but neither lists nor runs until the operator accepts it: why, by name. */
  heldBack?(area: 'tools' | 'prompts'): ReadonlyMap<string, Error> | undefined;
  /** Every user has an account of their own there: what one is shown is not for others. */
  readonly isPerUser?: boolean | undefined;
  /** It passes requests for the gateway's own tool (gateway-tool.ts) through its steps and answers them. */
  readonly takesOwnTools?: boolean | undefined;
  /** Its own metrics for /metrics. Labels come from its code, never from clients. */
  metrics?(): Promise<Family[]>;
  /** Pages next to MCP, for anyone who knows the URL. Absent if there are none. */
  readonly open?: OpenPages | undefined;
  /** The tool's input schema, for mirroring arguments into HTTP headers; undefined if unknown. */
  inputSchema?(tool: string, client: ClientView): JsonObject | undefined;
}

export type HandleResult = ReturnType<Target['handle']>;
export type Handle = (exchange: Exchange) => HandleResult;

/** What a client's first message says about it. */
export type ClientOpening = Pick<ClientView, 'dialect' | 'era' | 'capabilities' | 'assisted'> &
  Partial<Pick<ClientView, 'info' | 'greeting'>>;

export interface Watcher {
  readonly client: ClientView;
  /** Asks a question outside of any request; absent if the client's era has none such. */
  ask?(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
  /** Sends a notification outside of any request, if possible. */
  notify?(method: string, params?: JsonObject): void;
  /** Whether it is connected or waits for something; absent if it is while it watches. */
  isPresent?(): boolean;
}

/** A change that clients may have to be notified of. */
export type Change = ChangeOfKind & {
  /** Fields of the notification that the protocol does not define, `_meta` among them. */
  more?: JsonObject | undefined;
};

type ChangeOfKind =
  /** `isClaimed`: the names are a server's word; what a client may see of them, its list says. */
  | {
      kind: 'tools';
      added?: { name: string; description?: string | undefined }[];
      removed?: string[];
      isClaimed?: boolean | undefined;
    }
  | { kind: 'prompts' | 'resources' }
  /** `isDirect`: it came on the client's own connection, and is passed on even without a subscription. */
  | {
      kind: 'resource';
      uri: string;
      name?: string | undefined;
      isDirect?: boolean | undefined;
      /** Its server and its URI there, if the router knows. */
      origin?: { server: string; name: string } | undefined;
    }
  | { kind: 'task'; task: TaskState; principal: string }
  | { kind: 'log'; entry: LogEntry }
  | { kind: 'elicited'; elicitationId: string }
  /** A custom notification that belongs to no call. */
  | { kind: 'notification'; method: string; params?: JsonObject | undefined };

/** The key of `_meta` that names the task to which a message belongs. */
export const RELATED_TASK_KEY = 'io.modelcontextprotocol/related-task';
/** Ours: set on the entries of a server that is away, with the reason. */
export const UNAVAILABLE_KEY = 'mcp-parley/unavailable';
/** Ours, with a value of this process: set on entries that the server listed in a former process. It starts, and nothing is judged by what they say. */
export const REMEMBERED_KEY = 'mcp-parley/remembered';
/** Ours: names the server that a custom method is for. */
export const SERVER_KEY = 'mcp-parley/server';

/** A long-running call in the neutral form: times in ISO 8601, durations in milliseconds. */
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

/** Whether the task is finished. */
export function hasEnded({ status }: Pick<TaskState, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Paths served next to MCP, to anyone who knows the URL. The URL itself proves the right to use them, so no identity is required. */
export interface OpenPages {
  readonly pages: Readonly<Record<string, HttpHandler>>;
  servedAt(place: PagesHost): void;
}

/** The server of these pages. */
export interface PagesHost {
  /** The public URL; undefined if it is not reachable. */
  base(): Promise<string | undefined>;
  /** The principal of this request; absent if callers are not identified. */
  identify?: ((request: HttpRequest) => Promise<string | undefined>) | undefined;
  /** A link is enough for a browser that `identify` does not know: browsers send no tokens. */
  trustsLinks?: boolean | undefined;
  /** How a browser proves who its user is. */
  pageLogin?: PageLogin | undefined;
}

/** Handles what concerns it and passes everything else on. */
export type Layer = (next: Target) => Target;

/** Passes everything on; subclasses override what they are about. */
export class TargetLayer implements Target {
  protected readonly target: Target;

  constructor(target: Target) {
    this.target = target;
  }

  handle(exchange: Exchange): Promise<ResultObject> | ResultObject {
    return this.target.handle(exchange);
  }

  get info(): Implementation {
    return this.target.info;
  }

  get instructions(): string | undefined {
    return this.target.instructions;
  }

  get isPerUser(): boolean | undefined {
    return this.target.isPerUser;
  }

  get status(): Target['status'] {
    return this.target.status;
  }

  greeting(client: ClientView): JsonObject | undefined {
    return this.target.greeting?.(client);
  }

  setLevel(level: unknown, client: ClientView): Promise<void> | undefined {
    return this.target.setLevel?.(level, client);
  }

  capabilities(client: ClientView): ServerCapabilities {
    return this.target.capabilities(client);
  }

  async ready(opening?: ClientOpening): Promise<void> {
    await this.target.ready?.(opening);
  }

  watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    return this.target.watch(listener, watcher);
  }

  async subscribe(uri: string, client: ClientView): Promise<void> {
    await this.target.subscribe?.(uri, client);
  }

  async followTask(taskId: string, client: ClientView): Promise<void> {
    await this.target.followTask?.(taskId, client);
  }

  notify(notification: NotificationMessage, client: ClientView): void {
    this.target.notify?.(notification, client);
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.target.inputSchema?.(tool, client);
  }
}

/** Wraps a target so that each exchange can be observed. */
export class ObservedLayer extends TargetLayer {
  readonly #around: (exchange: Exchange, handle: Handle) => HandleResult;
  readonly #handle: Handle;

  /** `around` gets each exchange and its handler. */
  constructor(target: Target, around: (exchange: Exchange, handle: Handle) => HandleResult) {
    super(target);
    this.#around = around;
    this.#handle = (exchange) => target.handle(exchange);
  }

  override handle(exchange: Exchange): HandleResult {
    return this.#around(exchange, this.#handle);
  }
}

/**
 * A call that returns questions and is repeated with the answers; nothing is kept in between. The questions travel in the
 * result under a reserved key, so that steps pass them on like any other result.
 */
export interface SuspendedCall {
  questions: { [key: string]: { method: string; params?: JsonObject | undefined } };
  /** Returned unchanged with the answers, if present. */
  state: string | undefined;
  /** How long the answers may take. Default: as long as other calls wait for theirs. */
  lastsMs?: number | undefined;
  /** The state may mean nothing to another process of the server: of gateways that serve as one, this one repeats the call. */
  isOfProcess?: boolean | undefined;
}

const KEY = 'mcp-parley/suspended';

export function toSuspended(suspended: SuspendedCall): JsonObject {
  return { [KEY]: suspended };
}

/** Undefined for an unparsed result: those are never suspended. */
export function readSuspended(result: ResultObject): SuspendedCall | undefined {
  if (!isObject(result) || result instanceof RawObject) return undefined;
  const suspended = result[KEY];
  return isObject(suspended) && isObject(suspended.questions) ? (suspended as unknown as SuspendedCall) : undefined;
}

const OWN = randomId();

/** `reason`: why the list of this process is not there yet. */
export function toRemembered(entry: JsonObject, reason: string): JsonObject {
  const meta = isObject(entry['_meta']) ? entry['_meta'] : undefined;
  return { ...entry, _meta: { ...meta, [UNAVAILABLE_KEY]: reason, [REMEMBERED_KEY]: OWN } };
}

/** A step that learns from lists leaves it out, so that a call waits for the list of this process. */
export function isRemembered({ _meta: meta }: JsonObject): boolean {
  return isObject(meta) && meta[REMEMBERED_KEY] === OWN;
}
