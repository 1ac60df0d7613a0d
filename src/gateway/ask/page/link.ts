// The link to a page: what it is for is sealed, so it can be neither guessed nor altered. It is single use in that the
// first browser that opens it is the only one (owners.ts). It ends with its round, whatever the time of day says.
import type { Sealer } from '../../../shared/crypto/seal.ts';
import type { QuestionRound } from '../question-round.ts';

const PURPOSE = 'ask-link';
const MAX_LENGTH = 1000;

export const ASK_PATH = '/ask';

/** How links to a page are made and read. */
export interface Links {
  readonly path: string;
  /** The handle, or undefined for anything else than a link of ours. */
  open(token: string): string | undefined;
}

export function askLinks(sealer: Sealer): Links {
  return { path: ASK_PATH, open: (token) => openLink(sealer, token) };
}

/** `base` may have a path of its own, where a proxy puts this gateway below one. */
export function toLink(sealer: Sealer, { handle }: QuestionRound, base: string): string {
  return `${base.replace(/\/+$/, '')}${ASK_PATH}?t=${sealer.seal(PURPOSE, '', handle)}`;
}

/** No reason is given. */
function openLink(sealer: Sealer, token: string): string | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  return sealer.open(PURPOSE, '', token) as string | undefined;
}

export function tokenOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? '' : (new URLSearchParams(url.slice(query)).get('t') ?? '');
}
