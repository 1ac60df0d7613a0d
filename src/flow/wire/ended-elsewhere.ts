// A session whose client is connected to this process may be ended by another one: by `parley flows cancel --code`, by a server that has taken a
// cancel up first, or by a second client of its user. That process cannot tell the client, so this one looks into the store.
import type { Header } from '../journal.ts';
import type { Sessions } from '../session/sessions.ts';
import { withOutcome } from '../session/turn/outcome.ts';
import { isEnded } from '../store/store.ts';
import type { PromptDelivery } from './prompt-delivery.ts';

/** As often as a store that others write to is looked at for what is due. */
const LOOK_MS = 5000;
/** What this process has ended itself is told at once; so long that takes at most. */
const OWN_MS = 1000;
/** Of more sessions, the others are looked at next time. */
const MAX_LOOKS = 200;

/** Until the returned function is called. */
export function watchEndedElsewhere(sessions: Sessions, delivery: PromptDelivery): () => void {
  const { store, clock, log, lasting } = sessions.setup;
  if (!store.durable || !lasting) return () => {}; // nobody else ends them
  let next = 0;
  let isStopped = false;
  const look = async (): Promise<void> => {
    const all = delivery.followed();
    if (next >= all.length) next = 0;
    const some = all.slice(next, next + MAX_LOOKS);
    next += MAX_LOOKS;
    const ended = await endedOf(sessions, some);
    if (ended.length === 0) return;
    await new Promise<void>((resolve) => void clock.after(OWN_MS, resolve));
    const untold = new Set(delivery.followed());
    for (const header of ended) if (untold.has(header.id)) tell(sessions, delivery, header);
  };
  const again = (): void => {
    if (isStopped) return;
    look()
      .catch((error: unknown) => log.warn({ error }, 'flow.store-failed'))
      .finally(() => void clock.after(LOOK_MS, again));
  };
  clock.after(LOOK_MS, again);
  return () => void (isStopped = true);
}

async function endedOf({ setup: { store } }: Sessions, ids: readonly string[]): Promise<Header[]> {
  const ended: Header[] = [];
  for (const id of ids) {
    const header = store.browse ? await browsed(store.browse(id)) : (await store.load(id))?.header;
    if (header && isEnded(header)) ended.push(header);
  }
  return ended;
}

/** Without its journal. */
async function browsed(pages: AsyncIterable<{ header: Header }[]>): Promise<Header | undefined> {
  for await (const [one] of pages) return one?.header;
  return undefined;
}

function tell({ setup }: Sessions, delivery: PromptDelivery, header: Header): void {
  if (header.state === 'cancelled') delivery.cancelled(header);
  else if (header.reason === 'expired') delivery.expired(header);
  else delivery.moved({ header, questions: [], ...withOutcome(setup, header) });
}
