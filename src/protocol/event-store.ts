// Stores the events of a session's streams, so that a client can resume after a broken connection. One per session; the
// default is in memory, and others may store events outside the process.
export interface StoredEvent {
  stream: string;
  /** Counts up within its stream. */
  sequence: number;
  text: string;
}

export interface EventStore {
  append(event: StoredEvent): void;
  /** The later events of a stream, in order. */
  after(stream: string, sequence: number): Promise<StoredEvent[]> | StoredEvent[];
}
