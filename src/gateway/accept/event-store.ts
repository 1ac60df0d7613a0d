// Events of a session's streams, kept so that a client whose connection broke can ask for what it missed. Bounded: the
// oldest go first, and a client that asks for something older gets what is left.
import type { Limits } from '../../shared/limits.ts';

export interface StoredEvent {
  stream: string;
  /** Counts up within its stream. */
  sequence: number;
  text: string;
}

/** One per session. Another implementation may keep events outside the process. */
export interface EventStore {
  append(event: StoredEvent): void;
  /** What a stream got after this event, in order. */
  after(stream: string, sequence: number): Promise<StoredEvent[]> | StoredEvent[];
}

export function createMemoryEvents({ maxEvents, maxEventBytes }: Limits): EventStore {
  const events: StoredEvent[] = [];
  let bytes = 0;
  return {
    append(event) {
      events.push(event);
      bytes += event.text.length;
      while (events.length > maxEvents || (bytes > maxEventBytes && events.length > 1)) {
        bytes -= events.shift()!.text.length;
      }
    },
    after: (stream, sequence) => events.filter((event) => event.stream === stream && event.sequence > sequence),
  };
}
