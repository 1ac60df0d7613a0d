// A request that a client of the stateless era waits for.
/** A request in flight, as its connection tracks it. */
export interface RunningRequest {
  /** A stream that does not end on its own. */
  readonly endless?: boolean;
  cancel(reason?: unknown): void;
}
