// Options for waiting on events and on other people.
import type { Span } from './span.ts';

export interface EventOptions {
  /** How long to wait. Then the body gets an error, which `ask.try` can catch. Default: as long as the session. */
  timeout?: Span;
}

/** A promise of the delivered value. */
export interface AwaitedEvent<T> extends Promise<T> {
  /** The name for `sessions.deliver`, with the scope, and with `#2`, `#3`, … in a loop. */
  readonly key: string;
}

export interface PersonOptions {
  /** How often to remind the person while the question waits. Default: never. */
  remind?: Span;
  /** The caller may answer, too. Default: only this person, and those to whom the question is handed over. */
  orCaller?: boolean;
  /** The principals to whom the person can hand the question over on the page. Default: nobody is offered there. */
  handOver?: readonly string[];
}
