// Where the events of a session's streams are kept, so that a client whose connection broke can ask for what it missed.
// One per session; the default is in memory. Another may keep them outside the process.
export interface StoredEvent {
  stream: string;
  /** Counts up within its stream. */
  sequence: number;
  text: string;
}

export interface EventStore {
  append(event: StoredEvent): void;
  /** What a stream got after this event, in order. */
  after(stream: string, sequence: number): Promise<StoredEvent[]> | StoredEvent[];
}
