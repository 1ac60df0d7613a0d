// The event store of a session, in memory. Bounded: the oldest go first, and a client that asks for something older gets
// what is left.
import type { EventStore, StoredEvent } from '../../../protocol/event-store.ts';
import type { Limits } from '../../../shared/limits.ts';

export function createMemoryEventStore({ maxEvents, maxEventBytes }: Limits): EventStore {
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
