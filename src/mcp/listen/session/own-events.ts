// A store of events that the embedding program has given. If it fails, clients cannot resume their streams, but nothing else suffers: events are sent
// all the same, and a client that resumes gets those that the store still has.
import { callSafely, readSafely } from '../../../kernel/base/author-callback.ts';
import { toReadable } from '../../../kernel/base/errors.ts';
import type { EventStore, ServeContext, StoredEvent } from '../../eras/serve/serve-context.ts';

export function openEvents({ eventStore: events, log }: Pick<ServeContext, 'eventStore' | 'log'>): EventStore {
  const fail = (thrown: unknown): void =>
    log.error({ callback: 'events', error: toReadable(thrown) }, 'callback.failed');
  const store = readSafely(() => events!(), undefined, fail);
  const after = async (stream: string, sequence: number): Promise<StoredEvent[]> => {
    try {
      const found = await store?.after(stream, sequence);
      return Array.isArray(found) ? found : [];
    } catch (thrown) {
      fail(thrown);
      return [];
    }
  };
  return { append: (event) => callSafely(() => store?.append(event), fail), after };
}
