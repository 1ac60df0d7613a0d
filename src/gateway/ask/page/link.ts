// The link to a page: what it is for is sealed, so it can be neither guessed nor altered. It is single use in that the
// first browser that opens it is the only one (openers.ts), and it ends with its round.
import type { Clock } from '../../../shared/clock.ts';
import type { Sealer } from '../../../shared/seal.ts';
import type { Round } from '../round.ts';

const PURPOSE = 'ask-link';
const MAX_LENGTH = 1000;

export const ASK_PATH = '/ask';

/** `base` may have a path of its own, where a proxy puts this gateway below one. */
export function toLink(sealer: Sealer, { handle, expiresAt }: Round, base: string): string {
  return `${base.replace(/\/+$/, '')}${ASK_PATH}?t=${sealer.seal(PURPOSE, '', [handle, expiresAt])}`;
}

/** The handle, or undefined for whatever is no link of ours, or no longer. No reason is given. */
export function openLink(sealer: Sealer, clock: Clock, token: string): string | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const opened = sealer.open(PURPOSE, '', token) as [handle: string, expiresAt: number] | undefined;
  return opened && opened[1] > clock.now() ? opened[0] : undefined;
}

export function tokenOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? '' : (new URLSearchParams(url.slice(query)).get('t') ?? '');
}
