// What the author of a step writes and is given.
import type { JsonObject } from '../../protocol/message.ts';
import type { FileRef } from '../question/check-file.ts';
import type { AwaitedEvent } from './waiting-options.ts';
import type { Span } from './span.ts';
import type { ToolAnswer } from './tool-caller.ts';

declare const secret: unique symbol;

/** Stands for a secret that was answered. Its text is in no journal and no log; `reveal` gives it inside a step. */
export interface Secret {
  readonly [secret]: true;
}

export interface StepContext {
  /** The same on every try of this step in this session: hand it to whatever must not do the thing twice. */
  readonly idempotencyKey: string;
  /** From 1. More than 1 where an earlier try may have come to its end unseen. */
  readonly attempt: number;
  /** Aborted when the session ends or the step takes too long. */
  readonly signal: AbortSignal;
  /**
   * How far it is, told to the client at once where its call or session can be told of progress. Counts as a heartbeat. What is not more
   * than was told before is left out.
   */
  progress(current: number, total?: number, message?: string): void;
  /** It is alive. Counts where the step has the option `heartbeat`. */
  heartbeat(): void;
  /**
   * Calls a tool of the gateway, or of the client, that the flows were served with (`tools`). Rejects where the tool says that it
   * failed. Nobody can be asked from here: whatever the tool would ask has to be in its arguments.
   */
  readonly call: <T = JsonObject>(tool: string, args?: JsonObject) => Promise<ToolAnswer<T>>;
  /** Where the event is delivered, by one POST of JSON. Nobody else can make such a URL, and it is of use to nobody but its receiver. */
  url(event: AwaitedEvent<unknown>): Promise<string>;
  bytes(file: FileRef): Promise<Uint8Array>;
  reveal(secret: Secret): Promise<string>;
}

export type StepOptions<T> = ReadingOptions | EffectOptions<T>;

/** It only reads, and may run as often as it likes. */
interface ReadingOptions extends CommonOptions {
  effect?: undefined;
  /** Needs an `effect`. */
  check?: undefined;
  /** Needs an `effect`: what may run as often as it likes is not taken back. */
  undo?: undefined;
}

/** It changes something. */
interface EffectOptions<T> extends CommonOptions {
  /**
   * `retry`: after a crash it is run again with the same idempotency key. `once`: it is never run again; `check` can find out what
   * became of it.
   */
  effect: 'retry' | 'once';
  /** After a crash in a `once`: the result, where it did happen; undefined where it did not. */
  check?: (step: StepContext) => T | undefined | Promise<T | undefined>;
  /**
   * Takes the effect back when the session ends before its time (cancelled, declined, failed, expired), or the user goes back before
   * it. Tried again if it throws. Must not mind being called twice.
   */
  undo?: (result: T, step: StepContext) => unknown;
}

interface CommonOptions {
  /** Runs also while the session ends, where every other step is refused: for what a `finally` has to do. Is not taken back. */
  cleanup?: boolean;
  /** Of one try. Default 60 s. */
  timeout?: Span;
  /** What happens when it throws. Default: it has failed, and the body is told. */
  retry?: RetryPolicy;
  /** It has failed when it does not call `step.heartbeat()` for so long. */
  heartbeat?: Span;
  /** Of all steps with the same name at most so many run at once in this process; the others wait. */
  limit?: { name: string; max: number };
}

/** Tries are made in one go: after a crash they begin again. The idempotency key is the same in all of them. */
export interface RetryPolicy {
  /** In all. */
  attempts: number;
  /** Before the second try; each pause after that is twice as long. Default 1 s. */
  pause?: Span;
  /** The longest pause. Default 1 minute. */
  maxPause?: Span;
  /** No try begins after so long. */
  within?: Span;
  /** Which errors: their names, or a function. Default: all. */
  on?: readonly string[] | ((error: Error) => boolean);
}
