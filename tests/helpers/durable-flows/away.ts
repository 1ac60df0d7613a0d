// What a client meets whose server has died: it is called again, and asks whether to go on.

/** A process that has died knew what was asked; the next one does not. */
const GONE = 'This question is no longer open';
const PAGE_GONE = 'The page is gone';

export function isAway(thrown: unknown): boolean {
  const { code, message } = thrown as { code?: unknown; message: string };
  return (
    /^(UPSTREAM_|STREAM_|ECONN)/.test(String(code)) ||
    /^(Parley stopped while|fetch failed|Unknown task)/.test(message) ||
    [GONE, PAGE_GONE].some((gone) => message.startsWith(gone))
  );
}

/** The words of a result that has failed. */
export function isOfDeadProcess(text: string): boolean {
  return text.startsWith(GONE);
}

/** The status of a page whose question is not open any more. */
export function refuseIfGone(status: number): void {
  if (status === 410 || status === 409) throw new Error(PAGE_GONE);
}
