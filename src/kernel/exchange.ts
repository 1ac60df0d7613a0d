// The neutral model of one request and everything sent back for it. Targets, steps and flows see only this; mcp/eras/
// does the encoding.
import type { Identity } from './net/identity.ts';
import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/client';
import type { Abortable } from './base/cancellation.ts';
import { networkOf } from './net/network.ts';
import type { Spoken } from './era/era.ts';
import type { RuleDecision } from './audit.ts';
import type { CallNotes } from './events/call-notes.ts';
import type { JsonObject } from './message.ts';
import type { ResultObject } from './raw/raw-object.ts';

export type { Identity, Validity } from './net/identity.ts';

/** The answers when the call is repeated. */
export interface ResumedCall {
  state: string | undefined;
  answers: JsonObject;
  /** The server that asked, if there are several. */
  server: string | undefined;
}

export interface GatewayTool {
  readonly name: string;
  /** The list entry, marked by `toGatewayTool`. */
  readonly entry: JsonObject;
  run(exchange: Exchange): Promise<ResultObject>;
}

/** What an HTTP connection can become. */
export type UpgradedTransport = 'websocket';

/** How a client connected. Headers hold credentials: use them for decisions, not for logs. */
export interface ClientConnection {
  readonly transport: 'stdio' | 'http' | 'sse' | 'sdk' | UpgradedTransport;
  /** Identifies a handshake session over HTTP; not the id that the client sends. */
  readonly session?: string | undefined;
  /**
   * The headers of the HTTP request, of a session's latest request, or of a WebSocket's upgrade. Names are in lower
   * case.
   */
  headers?: Readonly<Record<string, string | string[] | undefined>> | undefined;
  /** Who calls, where callers are identified. */
  identity?: Identity | undefined;
  /** The network address of the client, over HTTP. */
  readonly address?: string | undefined;
  /** False for a program on stdio that nobody has configured, such as one on the control socket of a gateway. */
  readonly isVouched?: boolean | undefined;
}

/** What the configuration calls a caller: `key:NAME` is an API key, `user:NAME` the user of a key or of a login. */
export function namesOfCaller({ key, principal }: Identity): string[] {
  const names = [`user:${principal}`, principal.replace(/^key:/, 'user:')];
  return key === undefined ? names : [`key:${key}`, ...names];
}

/** The needed scopes that this caller lacks. A key without a list of scopes has all of them. */
export function missingScopes({ scopes, key }: Identity, needed: readonly string[]): readonly string[] {
  if (scopes === undefined && key !== undefined) return [];
  return needed.filter((scope) => !scopes?.includes(scope));
}

/** The calling client. */
export interface ClientView extends Spoken {
  /** The protocol revision, for example to choose between definitions of a tool. */
  readonly revision: string;
  readonly info: Implementation;
  readonly capabilities: ClientCapabilities;
  /** Fields of its `initialize` that the protocol does not define, `_meta` among them. */
  readonly greeting?: JsonObject | undefined;
  /** Owns sessions, parked calls, caches and counters. Never taken from what the client says about itself. */
  readonly principal: string;
  /** Absent if the gateway itself makes the call. */
  readonly connection?: ClientConnection | undefined;
  /**
   * Capabilities that the gateway provides in the client's place: by a page, by the model, or from the configuration.
   */
  assisted?: ClientCapabilities | undefined;
  /** The operator does not trust this client: answers from its forms and prompts do not count as a person's (people/trust/). */
  isUnproven?: boolean | undefined;
}

/** Unknown fields are kept, as in log entries. */
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
 * A question to the client: elicitation/create, sampling/createMessage, roots/list, ping, or a custom method of the
 * server.
 */
export interface Ask {
  method: string;
  params?: JsonObject;
  /** The key of the question within its call; generated if absent. */
  key?: string | undefined;
  /** Only a person may answer: no model, and no client that answers by itself. Implies `askedFirst`. */
  human?: boolean | undefined;
  /** The gateway asks, not the server, before it lets something happen. */
  ofGateway?: boolean | undefined;
  /** No server has taken the call yet: if it is lost, it can begin again as a new one. */
  isBefore?: boolean | undefined;
  /**
   * Only an answer given after the question was sent counts. Otherwise a client may send answers ahead with its call.
   */
  askedFirst?: boolean | undefined;
  /** Called just before the answer is delivered: with its channel, and, for a human's, who vouches for it and a digest of what was shown. */
  onAnswered?: ((way: AnswerWay, who?: string, shown?: string) => void) | undefined;
  /** The user may instead edit an earlier answer, `{ edit: { name: value } }`, or go back, `{ back: true }`. */
  revisable?: boolean | undefined;
  /** How long an answer is accepted, if known; shown to the user. */
  waitsMs?: number | undefined;
  /** Answered only on our page: secrets and files pass through no client form and no model. */
  page?: boolean | undefined;
  /** Called as soon as the client's answer has reached this process, before later messages are handled, with its `arrival`. */
  onReceived?: ((arrival: number) => void) | undefined;
  /** Receives the progress that the client reports on its answer. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/**
 * The channel of an answer: the client's own form, Parley's page, the model's words (`relay`), a prompt of an
 * interactive session, or a step that answered.
 */
export type AnswerWay = 'client' | 'page' | 'relay' | 'interaction' | 'step';

/** Whether an answer sent ahead of the question must be ignored. */
export function mustBeAskedFirst({ human, askedFirst }: Ask): boolean {
  return human === true || askedFirst === true;
}

/** The W3C trace context of the request. */
export interface TraceContext {
  traceparent?: string;
  tracestate?: string;
  baggage?: string;
}

/** Whether the client may access this resource; `name` is its URI on the server. */
export type ResourceGuard = (resource: { server: string; name: string; isPosing?: boolean | undefined }) => boolean;

/** A running task or session, as read from its public id. */
export interface Run {
  /** Its public id. */
  id: string;
  server: string;
  /** The server's own name of its tool, if the id has it. */
  tool?: string | undefined;
  /** The rules by which it was judged when it began, as a digest. */
  rules?: string | undefined;
}

/** Judges running tasks and sessions again. */
export interface RunGuard {
  /** A digest of the rules. */
  readonly rules: string;
  /** A task or session has begun under this public id. */
  began(id: string): void;
  /** Throws if it may not continue. */
  require(run: Run): void;
  /** A question was answered. Rejects if the answer may not reach the server. */
  answered(): Promise<void>;
}

/** The way back to the client while its request runs: what it is sent, and what it is asked. */
export interface ClientChannel {
  /** Sends a notification that belongs to this request, before its answer. */
  notify(method: string, params?: JsonObject): void;
  progress(progress: Progress): void;
  log(entry: LogEntry): void;
  /** Whether this client supports the question. */
  canAsk(ask: Ask): boolean;
  /**
   * Resolves with the client's answer; rejects with CLIENT_CANNOT_BE_ASKED, ASK_REFUSED or CANCELLED. `signal`
   * withdraws the question.
   */
  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
  /** Asks on our page, which `by` asks the client to open; undefined if that is not possible. */
  byPage?(ask: Ask, by: Exchange, signal?: AbortSignal): Promise<JsonObject> | undefined;
  /**
   * The call waits until `signal` for another person, who may take days. A client whose calls can be held gets `words`
   * and returns for the result; all others wait.
   */
  waits?(words: string, signal: AbortSignal): void;
  /**
   * Calls back once a request takes the result of this call, which may be much later if the call is held. Absent: the request that
   * brought the call waits for its result.
   */
  whenTaken?(callback: () => void): void;
  /** Closes the answer's stream if the client can resume it; otherwise does nothing. */
  releaseStream(retryMs: number): void;
  /** The call may return questions (`SuspendedCall`) instead of asking them. */
  readonly maySuspend?: boolean | undefined;
}

/** A request: its facts, and the channel to its client. */
export interface Exchange extends ClientChannel {
  /** Appears in every log line about this exchange. */
  readonly id: string;
  readonly method: string;
  /** When it reached this process, compared with other messages (arrival.ts); undefined if no client sent it. */
  readonly arrival?: number | undefined;
  /** The params without the era's own fields; other `_meta` keys stay in `params._meta`. Steps may replace them. */
  params: JsonObject;
  readonly client: ClientView;
  /** The client expects no answer. */
  readonly isNotification?: boolean | undefined;
  /** The configured name of the answering server; set by the router once known. */
  server?: string | undefined;
  /** Decides which resources the client may access; checked before the request goes to a server. */
  resourceGuard?: ResourceGuard | undefined;
  /** Set by rules: judges tasks, sessions and open questions again when the rules have changed. */
  runGuard?: RunGuard | undefined;
  /** Collects what is found out about this call, for those who watch it; absent if nobody does. */
  observed?: CallNotes | undefined;
  /** What a rule decided about it; undefined if none applied. */
  decision?: RuleDecision | undefined;
  /** Aborts when the client cancels or leaves for good. */
  readonly signal: AbortSignal;
  /** A cheaper form of `signal`, if available, for code that runs on every call. */
  readonly cancellation?: Abortable | undefined;
  /** False while the client is disconnected but may return for the answer; undefined if unknown. */
  readonly isConnected?: boolean | undefined;
  readonly trace?: TraceContext | undefined;
  /** The minimum level of log messages for this request; undefined if not set. */
  readonly logLevel?: LoggingLevel | undefined;
  /** The client asked for progress. */
  readonly wantsProgress?: boolean | undefined;
  /** The client asked for this call to run as a task (`ttl` in ms), or allows it (`{}`). */
  readonly task?: { ttl?: number | undefined; requested: boolean } | undefined;
  /** The caller expects questions: if a transport cannot attribute questions to calls, this call gets it alone. */
  readonly expectsQuestions?: boolean | undefined;
  /** The caller does not support tasks: a tool that runs as one is awaited to its end. */
  readonly awaitsTask?: boolean | undefined;
  /** The answers, if the call returned questions before. */
  readonly resumed?: ResumedCall | undefined;
  /** The gateway's own tool, if the client may see or has called it. */
  readonly ownTool?: GatewayTool | undefined;
}

/**
 * The caller that a limit counts: the principal where callers are identified, else the network address. Things that a client can
 * have many of, such as sessions, do not raise its allowance.
 */
export function callerOfClient({ principal, connection }: Pick<ClientView, 'principal' | 'connection'>): string {
  const { identity, address } = connection ?? {};
  if (identity === undefined && address !== undefined) return `address:${networkOf(address)}`;
  return `principal:${identity?.principal ?? principal}`;
}
