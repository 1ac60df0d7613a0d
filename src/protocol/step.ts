// What an author of a step writes. A step sees every exchange on its way to a target and the outcome on its way back; it may
// read, change, answer, refuse, or ask. The brand of an outcome makes a forgotten `return next()` a type error.
import type { Ask, Exchange, LogEntry, Progress } from './exchange.ts';
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

export type StepFunction = (exchange: StepExchange, next: Next) => Outcome | Promise<Outcome>;

export interface Step {
  /** For logs, errors and the configuration. */
  readonly name: string;
  readonly handle?: StepFunction | undefined;
  /** Something the clients may be told without having asked; undefined keeps it from them. */
  readonly onChange?: ((change: Change) => Change | undefined) | undefined;
}

/** What travels between the two answers of an exchange, each to be passed on by `next`, changed, or kept. */
export interface Hooks {
  progress?(progress: Progress, next: (progress: Progress) => void): void;
  log?(entry: LogEntry, next: (entry: LogEntry) => void): void;
  notify?(
    notification: { method: string; params?: JsonObject | undefined },
    next: (notification: { method: string; params?: JsonObject | undefined }) => void,
  ): void;
  ask?(ask: Ask, next: (ask: Ask) => Promise<JsonObject>): Promise<JsonObject>;
}

export interface StepExchange extends Exchange {
  /** Sees what travels back before the outcome does: progress, log lines, notifications, questions. */
  intercept(hooks: Hooks): void;
  /** The server that will answer or has answered, where it is known already. */
  readonly server: string | undefined;
}
