// Keeps the events of one session in memory, up to a limit. The oldest events go first; a client that asks for an older
// one gets the rest.
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
