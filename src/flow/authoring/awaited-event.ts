// What `ask.event` returns.
/** A promise of the delivered value. */
export interface AwaitedEvent<T> extends Promise<T> {
  /** The name for `sessions.deliver`, with the scope, and with `#2`, `#3`, … in a loop. */
  readonly key: string;
}
