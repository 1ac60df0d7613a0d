// The neutral model of one request and all that is sent back for it. A target, a step or a flow sees only this; how each
// part is spelled on the wire is the business of dialect/ alone.
import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/client';
import type { Abortable } from '../shared/cancellation.ts';
import type { JsonObject } from './message.ts';
import type { GatewayTool } from './gateway-tool.ts';
import type { ResumedCall } from './suspended-call.ts';

/** How a client came in. Headers hold credentials: they are for decisions, not for logs. */
export interface ClientConnection {
  readonly transport: 'stdio' | 'http' | 'sse' | 'websocket' | 'sdk';
  /** Names the session of the handshake era over HTTP; not the id that the client sends. */
  readonly session?: string | undefined;
  /** Of the HTTP request; of a session, those of its latest; of a WebSocket, those that opened it. Names are in lower case. */
  headers?: Readonly<Record<string, string | string[] | undefined>> | undefined;
  /** What `identify` told of the caller, beside the principal. */
  claims?: JsonObject | undefined;
}

/** Who calls, as far as this request tells. */
export interface ClientView {
  /** The wording the client speaks. */
  readonly dialect: 'handshake' | 'stateless' | 'draft';
  /** The protocol revision, e.g. for choosing between several definitions of one tool. */
  readonly revision: string;
  readonly info: Implementation;
  readonly capabilities: ClientCapabilities;
  /** Members of its own in its `initialize`, `_meta` among them. */
  readonly greeting?: JsonObject | undefined;
  /** Owner of sessions, parked calls, caches and counters. Never taken from what the client says of itself. */
  readonly principal: string;
  /** Absent where the call is the gateway's own. */
  readonly connection?: ClientConnection | undefined;
  /** What is answered in the client's place though it has not declared it: by a page, by the model's words, from the configuration. */
  assisted?: ClientCapabilities | undefined;
}

/** Members that are not named here are carried along, as they are in log entries. */
export interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
  _meta?: JsonObject | undefined;
}

export interface LogEntry {
  level: LoggingLevel;
  data: unknown;
  logger?: string | undefined;
  _meta?: JsonObject | undefined;
}

/**
 * A question to the client's side, named by its method: elicitation/create, sampling/createMessage, roots/list, ping, or a
 * method of the server's own.
 */
export interface Ask {
  method: string;
  params?: JsonObject;
  /** The name of the question within its call; minted when absent. */
  key?: string | undefined;
  /** Only a person's own word counts as an answer: never a model's, and no client that answers by itself. Implies `askedFirst`. */
  human?: boolean | undefined;
  /** The gateway itself asks, before it lets something happen, and not the server. */
  ofGateway?: boolean | undefined;
  /** Only an answer that is given after the question was sent counts. Without it, a client may send answers ahead with its call. */
  askedFirst?: boolean | undefined;
  /** Called with the way by which the answer came, just before it is handed over. */
  onAnswered?: ((way: AnswerWay) => void) | undefined;
  /** Instead of an answer an earlier one may be changed: `{ edit: { name: value } }`, or gone back to: `{ back: true }`. */
  revisable?: boolean | undefined;
  /** How long an answer will count, where whoever asks knows it: the user is told. */
  waitsMs?: number | undefined;
  /** Answered on a page of ours or not at all: what is secret, and files, go through no form of a client and no model. */
  page?: boolean | undefined;
  /** Called with the progress that the client reports on its answer; absent where nobody wants it. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/**
 * How an answer came: in the client's own form, on Parley's page, in a model's words (`relay`), as the answer to a prompt of an
 * interactive session, or from a step that answered in the client's place.
 */
export type AnswerWay = 'client' | 'page' | 'relay' | 'interaction' | 'step';

/** Whether an answer that came ahead of the question has to be ignored. */
export function mustBeAskedFirst({ human, askedFirst }: Ask): boolean {
  return human === true || askedFirst === true;
}

/** W3C trace context, as it came with the request. */
export interface TraceContext {
  traceparent?: string;
  tracestate?: string;
  baggage?: string;
}

/** Whether the client may have this resource: `name` is its URI as the server has it. */
export type ResourceGuard = (resource: { server: string; name: string; isPosing?: boolean | undefined }) => boolean;

export interface Exchange {
  /** Stands in every log line about this exchange. */
  readonly id: string;
  readonly method: string;
  /** Params without anything that belongs to an era, replaceable by whoever sees the exchange; foreign `_meta` keys are kept in `params._meta`. */
  params: JsonObject;
  readonly client: ClientView;
  /** The client does not wait for an answer: what becomes of it is told to nobody. */
  readonly isNotification?: boolean | undefined;
  /** The configured name of the server that answers; set by the router as soon as it knows. */
  server?: string | undefined;
  /** Set where rules decide which resources the client may have; it is asked before the request goes to a server. */
  resourceGuard?: ResourceGuard | undefined;
  /** Aborted when the client cancels or goes away for good. */
  readonly signal: AbortSignal;
  /** The same at less cost, where it is known; for those who look at it with every call. */
  readonly cancellation?: Abortable | undefined;
  /** False while nobody is connected to hear the answer, though the client may come back for it; undefined where that is not known. */
  readonly isConnected?: boolean | undefined;
  readonly trace?: TraceContext | undefined;
  /** From which level on the client wants log messages of this request; undefined when it has not said. */
  readonly logLevel?: LoggingLevel | undefined;
  /** The client asked to be told of progress. */
  readonly wantsProgress?: boolean | undefined;
  /** The client asked for this call to run as a task (`ttl` in ms), or allows it (`{}`). */
  readonly task?: { ttl?: number | undefined; requested: boolean } | undefined;
  /** It is made for somebody who expects to be asked: where a wire cannot tell whose a question is, it is alone on it. */
  readonly expectsQuestions?: boolean | undefined;
  /** Whoever made it knows no tasks: a tool that runs as one is awaited to its end. */
  readonly awaitsTask?: boolean | undefined;
  /** The call may be ended with questions (suspended-call.ts) instead of asking them. */
  readonly maySuspend?: boolean | undefined;
  /** It was answered so before, and this is what has come of it. */
  readonly resumed?: ResumedCall | undefined;
  /** A tool of the gateway's own that the client may see or has called. */
  readonly ownTool?: GatewayTool | undefined;
  /** A notification that belongs to this request, sent before its answer. */
  notify(method: string, params?: JsonObject): void;
  progress(progress: Progress): void;
  log(entry: LogEntry): void;
  /** Whether this client can be asked this. */
  canAsk(ask: Ask): boolean;
  /**
   * Resolves with the client's answer; rejects with CLIENT_CANNOT_BE_ASKED, ASK_REFUSED or CANCELLED. Whoever asked may
   * lose interest: `signal` calls the question off.
   */
  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
  /** Puts a question by a page of ours, which `by` asks the client to open; undefined where that cannot be. */
  byPage?(ask: Ask, by: Exchange, signal?: AbortSignal): Promise<JsonObject> | undefined;
  /**
   * It waits for somebody else than the user, who may take days, until `signal`. A client whose calls can be held is answered with these words
   * and comes back for the result; all others wait.
   */
  waits?(words: string, signal: AbortSignal): void;
  /** Lets go of the answer's stream where the client can pick it up again; elsewhere does nothing. */
  releaseStream(retryMs: number): void;
}
