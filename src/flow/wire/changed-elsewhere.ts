// Watches the store for sessions that another process has ended or continued: `parley flows cancel --code`, a server that handled a cancel
// first, or one with a second client of the user. That process cannot reach the client, so this one tells it how the session ended or what it
// asks now.
import type { Header } from '../journal.ts';
import type { Sessions } from '../session/sessions.ts';
import { callerQuestions, isEnded } from '../header.ts';
import { withOutcome } from '../session/turn/ended-record.ts';
import type { PromptDelivery } from './prompt-delivery.ts';
import { pause } from '../../kernel/base/timing.ts';
import { listenForChanges } from '../store/wake-ups.ts';

/** As often as a shared store is polled for due sessions. */
const LOOK_MS = 5000;
/** How long this process takes at most to announce a change of its own. */
const OWN_MS = 1000;
/** How long wake-ups are gathered. */
const SOON_MS = 50;
/** Sessions per look; the rest waits for the next one. */
const MAX_LOOKS = 200;

/** Stops when the returned function is called. */
export function watchElsewhere(sessions: Sessions, delivery: PromptDelivery): () => void {
  const { store, clock, log, lasting } = sessions.context;
  if (!store.durable || !lasting) return () => {}; // no other process can change them
  let next = 0;
  let isStopped = false;
  let isLooking = false;
  const look = async (some: readonly string[]): Promise<void> => {
    const changed = (await headersOf(sessions, some)).filter((header) => isUntold(header, delivery));
    if (changed.length === 0) return;
    await pause(clock, OWN_MS);
    const untold = new Set(delivery.followed());
    const still = changed.map(({ id }) => id).filter((id) => untold.has(id));
    for (const header of await headersOf(sessions, still))
      if (isUntold(header, delivery)) tell(sessions, delivery, header);
  };
  const lookAt = (some: readonly string[]): Promise<void> =>
    look(some).catch((error: unknown) => log.warn({ error }, 'flow.store-failed'));
  const again = (): void => {
    if (isStopped) return;
    const all = delivery.followed();
    if (next >= all.length) next = 0;
    const some = all.slice(next, next + MAX_LOOKS);
    next += MAX_LOOKS;
    void lookAt(some).finally(() => void clock.after(LOOK_MS, again));
  };
  clock.after(LOOK_MS, again);
  const woken = new Set<string>();
  const lookSoon = ({ id }: { id: string }): void => {
    woken.add(id);
    if (isLooking || isStopped) return;
    isLooking = true;
    clock.after(SOON_MS, () => {
      isLooking = false;
      const some = delivery.followed().filter((one) => woken.has(one));
      woken.clear();
      void lookAt(some.slice(0, MAX_LOOKS));
    });
  };
  const offChange = listenForChanges(sessions.context, lookSoon);
  return () => {
    isStopped = true;
    offChange();
  };
}

async function headersOf({ context: { store } }: Sessions, ids: readonly string[]): Promise<Header[]> {
  const headers: Header[] = [];
  for (const id of ids) {
    const header = store.browse ? await browsed(store.browse(id)) : (await store.load(id))?.header;
    if (header) headers.push(header);
  }
  return headers;
}

/** It has ended, or asks something else than its client was asked last. */
function isUntold(header: Header, delivery: PromptDelivery): boolean {
  if (isEnded(header)) return true;
  const open = header.state === 'waiting_user' ? callerQuestions(header) : [];
  const asked = delivery.askedLast(header.id);
  return open.length > 0 && !open.some(({ promptId }) => promptId === asked);
}

/** Without its journal. */
async function browsed(pages: AsyncIterable<{ header: Header }[]>): Promise<Header | undefined> {
  for await (const [one] of pages) return one?.header;
  return undefined;
}

function tell({ context }: Sessions, delivery: PromptDelivery, header: Header): void {
  if (header.state === 'cancelled') delivery.cancelled(header);
  else if (header.reason === 'expired') delivery.expired(header);
  else if (isEnded(header)) delivery.moved({ header, questions: [], ...withOutcome(context, header) });
  else delivery.moved({ header, questions: callerQuestions(header) });
}
