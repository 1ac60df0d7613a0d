// What an author may say about waiting for others than the user: events, and other people.
import type { Span } from './span.ts';

export interface EventOptions {
  /** How long it is waited for; then it is an error of the body's, which `ask.try` sees. Default: as long as the session lasts. */
  timeout?: Span;
}

/** A promise of what will be delivered. */
export interface AwaitedEvent<T> extends Promise<T> {
  /** Its name for `sessions.deliver`: with its scope, and with `#2`, `#3`, … in a loop. */
  readonly key: string;
}

export interface PersonOptions {
  /** How often the person is reminded while the question waits. Default: never. */
  remind?: Span;
  /** The caller may answer too. Default: only this person, and those to whom it is handed over. */
  orCaller?: boolean;
}
