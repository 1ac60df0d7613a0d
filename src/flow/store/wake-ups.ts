// Wake-ups from a store that many processes share. They are a hint: their listeners also look by themselves, so a store that cannot give them
// loses time and nothing else.
import { callSafely, readSafely } from '../../kernel/base/author-callback.ts';
import { toReadable } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';
import type { ChangedSession, FlowStore } from './store.ts';

/** Calls back when another process has changed a session, until the returned function is called. Never throws. */
export function listenForChanges(
  { store, log }: { store: FlowStore; log: Log },
  listener: (changed: ChangedSession) => void,
): () => void {
  const fail = (thrown: unknown): void =>
    log.error({ callback: 'store.onChange', error: toReadable(thrown) }, 'callback.failed');
  const off = readSafely(() => store.onChange?.(listener), undefined, fail);
  return () => callSafely(() => off?.(), fail);
}
