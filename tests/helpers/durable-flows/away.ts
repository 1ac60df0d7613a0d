// What a client sees after its server has died: it calls again, with the same start id.

/** Only the dead process knew the question, or the handle of its answer. */
const GONE = ['This question is no longer open', 'This handle has no open question: it is unknown'];
const PAGE_GONE = 'The page is gone';

export function isAway(thrown: unknown): boolean {
  const { code, message } = thrown as { code?: unknown; message: string };
  return (
    /^(UPSTREAM_|STREAM_|ECONN)/.test(String(code)) ||
    // A session ends with its process; the requests of its client then belong to none.
    /^(Parley stopped while|Unknown task|Session not found)|fetch failed|terminated|other side closed/.test(message) ||
    [...GONE, PAGE_GONE].some((gone) => message.startsWith(gone))
  );
}

/** Whether a failed result comes from a dead process. */
export function isOfDeadProcess(text: string): boolean {
  return GONE.some((gone) => text.startsWith(gone));
}

/** Throws for the status of a page whose question is closed, or has changed between seeing it and answering. */
export function refuseIfGone(status: number): void {
  if ([403, 409, 410].includes(status)) throw new Error(PAGE_GONE);
}
