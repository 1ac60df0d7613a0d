// Types for the steps of a flow: their context, their options, the tools that they call, and what their results may be.
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../kernel/message.ts';
import type { FileRef } from '../question/check-answer.ts';
import type { AwaitedEvent } from './awaited-event.ts';
import type { Span } from './span.ts';

declare const secret: unique symbol;

/** A secret answer. Its text is in no journal and no log; `reveal` returns it inside a step. */
export interface Secret {
  readonly [secret]: true;
}

/** The result of a tool with structured content of type `T`. */
export type ToolAnswer<T> = CallToolResult & { structuredContent: T };

export interface StepContext {
  /** The same for every try of this step in this session. Pass it to services that must not act twice. */
  readonly idempotencyKey: string;
  /** Starts at 1. Above 1, an earlier try may have succeeded without being recorded. */
  readonly attempt: number;
  /** Aborted when the session ends or the step takes too long. */
  readonly signal: AbortSignal;
  /** Reports progress to the client at once, if it can receive it. Counts as a heartbeat. Ignored unless it is more than before. */
  progress(current: number, total?: number, message?: string): void;
  /** Shows that the step is alive, for the option `heartbeat`. */
  heartbeat(): void;
  /**
   * Calls a tool of the gateway or client in the `tools` option of the flows. Rejects if the tool fails. It cannot ask the user, so the
   * arguments must be complete.
   */
  readonly call: <T = JsonObject>(tool: string, args?: JsonObject) => Promise<ToolAnswer<T>>;
  /** The URL that delivers the event, by one POST of JSON. It cannot be guessed, and serves only this event. */
  url(event: AwaitedEvent<unknown>): Promise<string>;
  bytes(file: FileRef): Promise<Uint8Array>;
  reveal(secret: Secret): Promise<string>;
}

export type StepOptions<T> = ReadingOptions | EffectOptions<T>;

/** A step that only reads and may run any number of times. */
interface ReadingOptions extends CommonOptions {
  effect?: undefined;
  /** Needs an `effect`. */
  check?: undefined;
  /** Needs an `effect`: a step that only reads has nothing to undo. */
  undo?: undefined;
}

/** A step that changes something. */
interface EffectOptions<T> extends CommonOptions {
  /**
   * `retry`: after a crash it runs again with the same idempotency key. `once`: it never runs again; `check` can find out what happened.
   */
  effect: 'retry' | 'once';
  /** After a crash in a `once` step: returns the result if it did happen, else undefined. */
  check?: (step: StepContext) => T | undefined | Promise<T | undefined>;
  /**
   * Undoes the effect if the session ends early (cancelled, declined, failed, expired), or if the user goes back to before it. Retried if
   * it throws, so it must tolerate a second call.
   */
  undo?: (result: T, step: StepContext) => unknown;
}

interface CommonOptions {
  /** The step also runs while the session ends, when all other steps are refused; for use in a `finally`. It is not undone. */
  cleanup?: boolean;
  /** Limit of one try. Default 60 s. */
  timeout?: Span;
  /** How to retry if it throws. Default: it fails, and the body gets the error. */
  retry?: RetryPolicy;
  /** The step fails if it does not call `step.heartbeat()` for this long. */
  heartbeat?: Span;
  /** How many steps with this limit name run at once in this process; the others wait. */
  limit?: { name: string; max: number };
}

/** All tries belong to one run: after a crash they start over. They share the idempotency key. */
export interface RetryPolicy {
  /** Tries in all. */
  attempts: number;
  /** Pause before the second try; each further pause is twice as long. Default 1 s. */
  pause?: Span;
  /** The longest pause. Default 1 minute. */
  maxPause?: Span;
  /** No try starts after this time. */
  within?: Span;
  /** Which errors to retry: their names, or a function. Default: all. */
  on?: readonly string[] | ((error: Error) => boolean);
}

/** What calls tools for steps: a gateway, or a connected client. */
export interface ToolCaller {
  callTool(name: string, args?: JsonObject, options?: ToolCallerOptions): Promise<CallToolResult>;
}

interface ToolCallerOptions {
  signal?: AbortSignal;
  /** The principal to call as, where callers are told apart: a hash of the session's owner. */
  principal?: string;
}

/** May be a function that is called at first use, for example if the gateway serves these flows itself. */
export type ToolCallerOption = ToolCaller | (() => ToolCaller | Promise<ToolCaller>);

type Lossy =
  | Date
  | RegExp
  | ArrayBuffer
  | ArrayBufferView
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | Promise<unknown>
  | bigint
  | symbol
  | ((...args: never) => unknown);

/** How deep types are checked, as recursive types have no end. */
type Levels = [0, 0, 0, 0, 0, 0];

/** The parts of a type that JSON would change; never if there are none, or if the type is unknown. */
type NotJson<T, Left extends unknown[] = Levels> = 0 extends 1 & T
  ? never
  : T extends Lossy
    ? T
    : T extends object
      ? Left extends [unknown, ...infer Rest]
        ? T extends readonly (infer Item)[]
          ? NotJson<Item, Rest>
          : { [Name in keyof T]-?: NotJson<T[Name], Rest> }[keyof T]
        : never
      : never;

/**
 * Added to the type of a step's or flow's function: nothing if its result is valid, else the error that the compiler prints. Results are kept as JSON,
 * and those that JSON would change would come back as another type. The engine refuses the same values at run time, and those that types cannot
 * tell apart: NaN, and an Error, which looks like any object with a name and a message.
 */
export type KeptAsJson<T> = [NotJson<T>] extends [never]
  ? unknown
  : { readonly 'the result is kept as JSON, which this is not': NotJson<T> };
