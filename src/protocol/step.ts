// What an author of a step writes. A step sees every exchange on its way to a target and the outcome on its way back; it may
// read, change, answer, refuse, or ask. The brand of an outcome makes a forgotten `return next()` a type error.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Abortable } from '../shared/cancellation.ts';
import type { Log } from '../shared/log.ts';
import type { Ask, ClientView, Exchange, LogEntry, Progress } from './exchange.ts';
import type { FormAnswerOf, FormAsk } from './schema/form-answer.ts';
import type { JsonObject } from './message.ts';
import type { Change } from './target.ts';

declare const made: unique symbol;

/** The answer on its way back. Reading `result` parses it where nobody has yet; setting it replaces it. */
export interface Outcome {
  readonly [made]: true;
  result: JsonObject;
}

/** Lets the rest of the chain answer. To be called at most once, and its outcome to be returned. */
export type Next = () => Promise<Outcome>;

/** A request of the step's own to the rest of the chain, such as a list. The client is told nothing of it. */
export type LookUp = (method: string, params?: JsonObject) => Promise<JsonObject>;

/** Where a tool, a prompt, or a resource whose URI names its server comes from. */
export interface Origin {
  /** The configured name of its server. */
  server: string;
  /** What the server itself calls it; of a resource, its URI. */
  name: string;
  /** The server calls it like something of another server, as in `github__search`. */
  isPosing?: boolean | undefined;
  /** Why its server is not up, while that has never said what it has; undefined otherwise. */
  away?: (() => Error | undefined) | undefined;
}

/** Where something comes from that the rest of the chain calls so, as far as that is known. Whatever was listed is known. */
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
  /** It is about the tools of this server alone. */
  readonly server?: string | undefined;
  /** It is about prompts and resources, too. */
  readonly isForAll?: boolean | undefined;
}

export interface Step {
  /** For logs, errors and the configuration. */
  readonly name: string;
  readonly handle?: StepFunction | undefined;
  /** The only methods it handles; all others pass it by at no cost. Default: every method. */
  readonly methods?: readonly string[] | undefined;
  /** What those before it are told of an error further in, where this step has changed what was asked; undefined: the same. */
  readonly reword?: ((error: unknown, passedOn: JsonObject, found: JsonObject) => unknown) | undefined;
  /** It may call `next` again once the former call has ended, as a step that retries does. */
  readonly repeats?: boolean | undefined;
  /** Something that clients may be told without having asked; undefined keeps it from them. Called once for all of them. */
  readonly onChange?: ((change: Change, originOf?: OriginOf) => Change | undefined) | undefined;
  /** A question of a server that belongs to no exchange: to be passed on by `next`, changed, answered, or refused. */
  readonly onAsk?: OnAsk | undefined;
  /** The names and globs in its rules. One that matches nothing is reported in the log. */
  readonly toolRules?: readonly ToolRule[] | undefined;
  /** What clients are told of the server when they connect, by initialize or server/discover. */
  readonly greeting?: StepGreeting | undefined;
  /**
   * Called once before the first exchange, with what `keep` of the step returned whose place this one takes: another version of its
   * file, or a step of the same name. Undefined at first. `listen` waits for a promise.
   */
  readonly start?: ((kept: unknown) => void | Promise<void>) | undefined;
  /** What the step that takes this one's place is to have of it. */
  readonly keep?: (() => unknown) | undefined;
  /** Called once when it is not used any more: replaced, reloaded, or its gateway is closed. To end timers and connections. */
  readonly close?: (() => void | Promise<void>) | undefined;
  /** What the rest of the chain calls a tool that this step shows by another name, if that is known. */
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

export type OnAsk = (
  ask: Ask,
  next: (ask: Ask) => Promise<JsonObject>,
  client: ClientView,
) => Promise<JsonObject> | JsonObject;

/** What travels between the two answers of an exchange, each to be passed on by `next`, changed, or kept. */
export interface Hooks {
  progress?(progress: Progress, next: (progress: Progress) => void): void;
  log?(entry: LogEntry, next: (entry: LogEntry) => void): void;
  notify?(notification: Notification, next: (notification: Notification) => void): void;
  ask?(ask: Ask, next: (ask: Ask) => Promise<JsonObject>): Promise<JsonObject>;
  /** A question is about to pass; it cannot be changed. Questions of flows that pass as results are not told. */
  asked?(ask: Ask): void;
}

/** A notification that belongs to an exchange. */
export interface Notification {
  method: string;
  params?: JsonObject | undefined;
}

/** `params` and `signal` may be replaced before `next`; after it they are again what this step has passed on. */
export interface StepExchange extends Exchange {
  /** Aborted when the client cancels or goes away for good. A step may hand on a signal that aborts sooner. */
  signal: AbortSignal;
  /** The same at less cost: of the two, the one set last counts. */
  cancellation: Abortable;
  /** Which chain this is: one per set of servers. What a step remembers of servers is to be kept apart by it. */
  readonly scope: string;
  /** The server that will answer, so far as it is known before it does; tools are, once they have been listed. */
  readonly owner?: string | undefined;
  /** The operator's log; `log` is for the client. */
  readonly gatewayLog: Log;
  /** Sees what travels back before the outcome does: progress, log lines, notifications, questions. */
  intercept(hooks: Hooks): void;
  /** As for every exchange; the answer to a form has the type of its schema. */
  ask<const A extends FormAsk>(ask: A, signal?: AbortSignal): Promise<FormAnswerOf<A>>;
  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
}
