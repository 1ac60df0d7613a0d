// What a commit makes of a header, the same in every store.
import type { Header } from '../journal.ts';
import { isEnded } from './store.ts';

/** Whose session it is, which one and since when cannot be patched; what was asked or to be changed is gone once it has ended. */
export function patched(header: Header, patch: Partial<Header>): Header {
  const { id, principal, createdAt, rev } = header;
  const next = { ...header, ...patch, id, principal, createdAt, rev: rev + 1 };
  return isEnded(next) ? { ...next, current: [], pending: undefined } : next;
}
