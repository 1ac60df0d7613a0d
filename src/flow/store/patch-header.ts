// What a commit makes of a header, the same in every store.
import type { Header } from '../journal.ts';
import { isEnded } from './store.ts';

export function patchHeader(header: Header, patch: Partial<Header>): Header {
  return patchHeaderInPlace({ ...header }, patch);
}

/** Whose session it is, which one and since when cannot be patched; what was asked or to be changed is gone once it has ended. */
export function patchHeaderInPlace(header: Header, patch: Partial<Header>): Header {
  const { id, principal, createdAt, rev } = header;
  // Key by key: a second spread in one literal takes several times as long, and this is done twice in every turn.
  for (const name in patch) (header as unknown as Record<string, unknown>)[name] = patch[name as keyof Header];
  header.id = id;
  header.principal = principal;
  header.createdAt = createdAt;
  header.rev = rev + 1;
  if (isEnded(header)) {
    header.current = [];
    header.pending = undefined;
    header.waits = undefined;
    header.busy = undefined;
  }
  return header;
}
