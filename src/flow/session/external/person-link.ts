// The link by which a person who is asked reaches the page with the question: sealed, for one question and one person. Each notice has a
// link of its own, so that a reminder still opens in another browser.
import type { Sealer } from '../../../shared/crypto/seal.ts';
import type { SessionContext } from '../session-context.ts';

const PURPOSE = 'flow-person';
const MAX_LENGTH = 8000;

export const PERSON_PATH = '/person';

export interface PersonAddress {
  sessionId: string;
  promptId: string;
  /** The principal who is asked. */
  person: string;
  /** Which of the notices: 0 for the first, then reminders. */
  notice: number;
  /** Of the question as it was put. */
  pin?: string | undefined;
}

/** Undefined where browsers cannot reach this server. */
export async function createPersonLink(
  { sealer, baseUrl }: Pick<SessionContext, 'sealer' | 'baseUrl'>,
  { sessionId, promptId, person, notice, pin }: PersonAddress,
): Promise<string | undefined> {
  const base = await baseUrl?.();
  if (base === undefined) return undefined;
  return `${base.replace(/\/+$/, '')}${PERSON_PATH}?t=${sealer.seal(PURPOSE, '', [sessionId, promptId, person, notice, pin])}`;
}

/** What a link is for, as text: it names the link to its cookies. Undefined for anything else than a link of ours. */
export function openPersonToken(sealer: Sealer, token: string): string | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const opened = sealer.open(PURPOSE, '', token);
  return opened === undefined ? undefined : JSON.stringify(opened);
}

export function readPersonHandle(handle: string): PersonAddress {
  const [sessionId, promptId, person, notice, pin] = JSON.parse(handle) as [string, string, string, number, string?];
  return { sessionId, promptId, person, notice, pin };
}
