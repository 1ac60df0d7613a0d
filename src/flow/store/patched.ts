// What a commit makes of a header, the same in every store.
import type { Header } from '../journal.ts';
import { isEnded } from './store.ts';

/** Whose session it is, which one and since when cannot be patched; what was asked or to be changed is gone once it has ended. */
export function patched(header: Header, patch: Partial<Header>): Header {
  const { id, principal, createdAt, rev } = header;
  const next: Header = { ...header };
  // Key by key: a second spread in one literal takes several times as long, and this is done twice in every turn.
  for (const name in patch) (next as unknown as Record<string, unknown>)[name] = patch[name as keyof Header];
  next.id = id;
  next.principal = principal;
  next.createdAt = createdAt;
  next.rev = rev + 1;
  if (isEnded(next)) {
    next.current = [];
    next.pending = undefined;
  }
  return next;
}
