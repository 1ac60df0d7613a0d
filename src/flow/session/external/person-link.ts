// The link to the page where a person answers one question. It contains a sealed token. Each notice has its own link, so that a reminder
// still opens in another browser.
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
  /** The number of the notice: 0 for the first, then reminders. */
  notice: number;
  /** The pin of the question as it was asked. */
  pin?: string | undefined;
}

/** Undefined if browsers cannot reach this server. */
export async function createPersonLink(
  { sealer, baseUrl }: Pick<SessionContext, 'sealer' | 'baseUrl'>,
  { sessionId, promptId, person, notice, pin }: PersonAddress,
): Promise<string | undefined> {
  const base = await baseUrl?.();
  if (base === undefined) return undefined;
  return `${base.replace(/\/+$/, '')}${PERSON_PATH}?t=${sealer.seal(PURPOSE, '', [sessionId, promptId, person, notice, pin])}`;
}

/** The content of the token as text, which also names the cookies of the page. Undefined if the token is not valid. */
export function openPersonToken(sealer: Sealer, token: string): string | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const opened = sealer.open(PURPOSE, '', token);
  return opened === undefined ? undefined : JSON.stringify(opened);
}

export function readPersonHandle(handle: string): PersonAddress {
  const [sessionId, promptId, person, notice, pin] = JSON.parse(handle) as [string, string, string, number, string?];
  return { sessionId, promptId, person, notice, pin };
}
