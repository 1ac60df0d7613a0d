// The link to a page. Its content is sealed, so it can be neither guessed nor altered. Only the first browser that
// opens it can use it (page-owners.ts). It ends with its round, even if the system time jumps.
import type { Sealer } from '../../../shared/crypto/seal.ts';
import type { QuestionRound } from '../question-round.ts';

const PURPOSE = 'ask-link';
const MAX_LENGTH = 1000;

export const ASK_PATH = '/ask';

/** Creates and opens links to a page. */
export interface Links {
  readonly path: string;
  /** The handle; undefined if it is not one of our links. */
  open(token: string): string | undefined;
}

export function askLinks(sealer: Sealer): Links {
  return { path: ASK_PATH, open: (token) => openLink(sealer, token) };
}

/** `base` may have a path, if a proxy puts this gateway below one. */
export function toLink(sealer: Sealer, { handle }: QuestionRound, base: string): string {
  return `${base.replace(/\/+$/, '')}${ASK_PATH}?t=${sealer.seal(PURPOSE, '', handle)}`;
}

/** Undefined for any invalid link, without a reason. */
function openLink(sealer: Sealer, token: string): string | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  return sealer.open(PURPOSE, '', token) as string | undefined;
}

export function tokenOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? '' : (new URLSearchParams(url.slice(query)).get('t') ?? '');
}
