// Keeps the events of one session in memory, up to a limit. The oldest events go first; a client that asks for an older
// one gets the rest.
import type { EventStore, StoredEvent } from '../../../protocol/event-store.ts';
import { HeldShare, UNCOUNTED_BYTES } from '../../../shared/held-bytes.ts';
import type { Limits } from '../../../shared/limits.ts';

/** `owner`: whose session it is. */
export function createMemoryEventStore(
  { maxEvents, maxEventBytes, maxHeldBytes: maxBytes }: Limits,
  owner = '',
): EventStore & { clear(): void } {
  const events: StoredEvent[] = [];
  let bytes = 0;
  let holding: HeldShare | undefined;
  const clear = (): void => {
    events.length = 0;
    bytes = 0;
    holding?.release();
    holding = undefined;
  };
  return {
    clear,
    append(event) {
      events.push(event);
      bytes += event.text.length;
      while (events.length > maxEvents || (bytes > maxEventBytes && events.length > 1)) {
        bytes -= events.shift()!.text.length;
      }
      holding ??= bytes > UNCOUNTED_BYTES ? new HeldShare({ owner, maxBytes, cut: clear }) : undefined;
      holding?.set(bytes);
    },
    after: (stream, sequence) => events.filter((event) => event.stream === stream && event.sequence > sequence),
  };
}
