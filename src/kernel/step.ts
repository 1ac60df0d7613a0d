// The types that authors of steps use. A step sees every exchange on its way to a target and the outcome on its way
// back; it may read, change, answer, refuse or ask. The brand of an outcome makes a forgotten `return next()` a type
// error.
import type {
  Implementation,
  ServerCapabilities,
  CallToolRequestParams,
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  PaginatedRequestParams,
  ReadResourceRequestParams,
  ReadResourceResult,
} from '@modelcontextprotocol/client';
import type { Abortable } from './base/cancellation.ts';
import type { Log } from './base/log.ts';
import type { RecordAudit } from './audit.ts';
import type { Ask, ClientView, Exchange, LogEntry, Progress } from './exchange.ts';
import type { JsonObject } from './message.ts';
import type { Change } from './target.ts';
import type {
  CALL_TOOL,
  CANCEL_TASK,
  COMPLETE_ARGUMENT,
  ELICIT_INPUT,
  GET_PROMPT,
  GET_TASK,
  GET_TASK_RESULT,
  LIST_PROMPTS,
  LIST_RESOURCES,
  LIST_TASKS,
  LIST_TEMPLATES,
  LIST_TOOLS,
  READ_RESOURCE,
  ROOTS_CHANGED,
  SUBSCRIBE_RESOURCE,
  UNSUBSCRIBE_RESOURCE,
  UPDATE_TASK,
} from './methods.ts';

declare const made: unique symbol;

/** The answer on its way back. Reading `result` parses it if needed; setting it replaces it. */
export interface Outcome {
  readonly [made]: true;
  result: JsonObject;
}

/** Calls the rest of the chain. Call it at most once and return its outcome. */
export type Next = () => Promise<Outcome>;

/** Sends the step's own request to the rest of the chain, such as a list. The client does not see it. */
export type LookUp = (method: string, params?: JsonObject) => Promise<JsonObject>;

/** Where a tool, a prompt, or a resource whose URI names its server comes from. */
export interface Origin {
  /** The configured name of its server. */
  server: string;
  /** Its name on the server; for a resource, its URI. */
  name: string;
  /** Its name looks like that of another server's entry, as in `github__search`. */
  isPosing?: boolean | undefined;
  /** Why it is not listed: its server is down and has never listed its entries, or it is held back. */
  away?: (() => Error | undefined) | undefined;
  /** Resolves when its server has started, or could not. Undefined if it has listed its entries, or has failed: then nothing is waited for. */
  starting?: ((client: ClientView) => Promise<void> | undefined) | undefined;
}

/** Finds the origin of a name, as the rest of the chain uses it. Everything that was listed is known. */
export type OriginOf = (area: 'tools' | 'prompts' | 'resources', name: string) => Origin | undefined;

export type StepFunction = (
  exchange: StepExchange,
  next: Next,
  lookUp: LookUp,
  originOf?: OriginOf,
) => Outcome | Promise<Outcome>;

/** A name or glob of tools in the rules of a step. */
export interface ToolRule {
  readonly pattern: string;
  /** Applies only to the tools of this server. */
  readonly server?: string | undefined;
  /** Applies to prompts and resources too. */
  readonly isForAll?: boolean | undefined;
}

export interface Step {
  /** For logs, errors and the configuration. */
  readonly name: string;
  readonly handle?: StepFunction | undefined;
  /** The methods it handles; all others skip it at no cost. Default: every method. */
  readonly methods?: readonly string[] | undefined;
  /**
   * It does its job on `interaction.start` itself, or has none there. By default, a step for `tools/call` that does not name
   * `interaction.start` among its methods is shown every start of a tool as the call it is.
   */
  readonly seesStarts?: boolean | ((client: ClientView) => boolean) | undefined;
  /** Rewrites an error from further in, if this step has changed the request; undefined keeps it. */
  readonly reword?: ((error: unknown, passedOn: JsonObject, found: JsonObject) => unknown) | undefined;
  /** It may call `next` again after the previous call has ended, as a retry does. */
  readonly repeats?: boolean | undefined;
  /** It turns calls of a tool of its own into calls of other tools. It runs before all other steps, so that they see what is called. */
  readonly unwraps?: boolean | undefined;
  /** It answers from what it has kept. It runs after the rules, so that they judge what it answers. */
  readonly keepsAnswers?: boolean | undefined;
  /** Changes or suppresses (undefined) a notification for all clients. Called once for all of them. */
  readonly onChange?: ((change: Change, originOf?: OriginOf) => Change | undefined) | undefined;
  /** A server's question that belongs to no exchange: pass it on with `next`, change, answer or refuse it. */
  readonly onAsk?: OnAsk | undefined;
  /** The names and globs in its rules. One that matches nothing is logged. */
  readonly toolRules?: readonly ToolRule[] | undefined;
  /** Changes what clients learn about the server by initialize or server/discover. */
  readonly greeting?: StepGreeting | undefined;
  /**
   * Called once before the first exchange, with the result of `keep` of the step that this one replaces: another
   * version of its file, or a step of the same name. Undefined at first. `listen` waits for a promise.
   */
  readonly start?: ((kept: unknown) => void | Promise<void>) | undefined;
  /** State for the step that replaces this one. */
  readonly keep?: (() => unknown) | undefined;
  /** Called once when it is no longer used: replaced, reloaded, or its gateway closed. Stops timers and connections. */
  readonly close?: (() => void | Promise<void>) | undefined;
  /** The name that the rest of the chain uses for a tool that this step renames, if known. */
  readonly toolBehind?: ((shown: string, scope: string) => string | undefined) | undefined;
  /** The same for prompts. */
  readonly promptBehind?: ((shown: string, scope: string) => string | undefined) | undefined;
}

/** Each part may be rewritten; what is left out stays as it is. */
export interface StepGreeting {
  info?(info: Implementation): Implementation;
  instructions?(instructions: string | undefined): string | undefined;
  capabilities?(capabilities: ServerCapabilities, client: ClientView): ServerCapabilities;
}

type OnAsk = (
  ask: Ask,
  next: (ask: Ask) => Promise<JsonObject>,
  client: ClientView,
) => Promise<JsonObject> | JsonObject;

/** What travels during an exchange; pass each on with `next`, change it or drop it. */
export interface Hooks {
  progress?(progress: Progress, next: (progress: Progress) => void): void;
  log?(entry: LogEntry, next: (entry: LogEntry) => void): void;
  notify?(notification: Notification, next: (notification: Notification) => void): void;
  ask?(ask: Ask, next: (ask: Ask) => Promise<JsonObject>): Promise<JsonObject>;
  /** A question is about to pass; it cannot be changed. Questions of flows that travel as results are not reported. */
  asked?(ask: Ask): void;
}

/** A notification that belongs to an exchange. */
export interface Notification {
  method: string;
  params?: JsonObject | undefined;
}

/** `params` and `signal` may be replaced before `next`; afterwards they are again what this step passed on. */
export interface StepExchange extends Exchange {
  /** Aborts when the client cancels or leaves for good. A step may set one that aborts sooner. */
  signal: AbortSignal;
  /** A cheaper form of `signal`; the one set last counts. */
  cancellation: Abortable;
  /** Identifies the chain, one per set of servers. Keep what a step remembers about servers separate per scope. */
  readonly scope: string;
  /** The server that will answer, if known in advance; for tools, once they have been listed. */
  readonly owner?: string | undefined;
  /** The operator's log; `log` is for the client. */
  readonly gatewayLog: Log;
  /** Tells the audit log, if there is one, and others who watch the gateway. */
  readonly audit?: RecordAudit | undefined;
  /** Intercepts what travels back before the outcome: progress, log lines, notifications and questions. */
  intercept(hooks: Hooks): void;
  /** As for every exchange; a form's answer has the type of its schema. */
  ask<const A extends FormAsk>(ask: A, signal?: AbortSignal): Promise<FormAnswerOf<A>>;
  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
}

interface Untyped {
  params: JsonObject;
  result: JsonObject;
}

interface OfUri extends Untyped {
  params: { uri: string; _meta?: JsonObject };
}

interface OfTask extends Untyped {
  params: { taskId: string; _meta?: JsonObject };
}

/**
 * The methods that steps see, with the types of their params and results. Custom methods can be added by declaration
 * merging:
 * declare module 'mcp-parley' { interface StepMethods { 'acme/run': { params: { job: string }; result: { id: string } }
 * } }
 */
interface StepMethods {
  [LIST_TOOLS]: { params: PaginatedRequestParams; result: ListToolsResult };
  [CALL_TOOL]: { params: CallToolRequestParams; result: CallToolResult };
  [LIST_PROMPTS]: { params: PaginatedRequestParams; result: ListPromptsResult };
  [GET_PROMPT]: { params: GetPromptRequestParams; result: GetPromptResult };
  [LIST_RESOURCES]: { params: PaginatedRequestParams; result: ListResourcesResult };
  [LIST_TEMPLATES]: { params: PaginatedRequestParams; result: ListResourceTemplatesResult };
  [READ_RESOURCE]: { params: ReadResourceRequestParams; result: ReadResourceResult };
  [SUBSCRIBE_RESOURCE]: OfUri;
  [UNSUBSCRIBE_RESOURCE]: OfUri;
  [COMPLETE_ARGUMENT]: { params: CompleteRequestParams; result: CompleteResult };
  [GET_TASK]: OfTask;
  [GET_TASK_RESULT]: OfTask;
  [CANCEL_TASK]: OfTask;
  [UPDATE_TASK]: OfTask;
  [LIST_TASKS]: Untyped;
  [ROOTS_CHANGED]: Untyped;
}

export type StepMethod = keyof StepMethods;

/** The outcome of a method. */
type OutcomeOf<M extends StepMethod> = Omit<Outcome, 'result'> & { result: StepMethods[M]['result'] };

/** A step for one or several methods, with the protocol's types for params and results. */
export type StepFunctionOf<M extends StepMethod> = (
  exchange: Omit<StepExchange, 'method' | 'params'> & { readonly method: M; params: StepMethods[M]['params'] },
  next: () => Promise<OutcomeOf<M>>,
  lookUp: LookUp,
  originOf?: OriginOf,
) => Outcome | OutcomeOf<M> | Promise<Outcome | OutcomeOf<M>>;

/** A form question. The type of its answer is derived from its schema, so that reading it needs no cast. */
export type FormAsk = Ask & {
  method: typeof ELICIT_INPUT;
  params: { requestedSchema: { properties: object; required?: readonly string[] } };
};

/** Only an accepted form has content. */
export type FormAnswerOf<A extends FormAsk> =
  | { action: 'accept'; content: ContentOf<A['params']['requestedSchema']> }
  | { action: 'decline' | 'cancel'; content?: undefined };

/** Optional fields may be missing; not every client checks answers. */
type ContentOf<S extends FormAsk['params']['requestedSchema']> = JsonObject & {
  readonly [K in keyof S['properties']]:
    | ValueOf<S['properties'][K]>
    | (S extends { required: readonly (infer R)[] } ? (K extends R ? never : undefined) : undefined);
};

/** If the type was not a literal, TypeScript only knows that it is a string. */
type ValueOf<P> = P extends { enum: readonly (infer E)[] }
  ? E
  : P extends { type: 'boolean' }
    ? boolean
    : P extends { type: 'number' | 'integer' }
      ? number
      : P extends { type: 'string' }
        ? string
        : P extends { type: 'array' }
          ? readonly string[]
          : string | number | boolean | readonly string[];
