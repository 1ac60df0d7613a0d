// The revisions of the stateless era.
import type { Revision } from '../era.ts';
import { STATELESS_FACTS } from './facts.ts';

export const STATELESS = '2026-07-28';

export const JULY_2026: Revision = { name: STATELESS, dialect: 'stateless', era: STATELESS_FACTS };

/** Version strings compare by date; a name that is not a date is never stateless. */
export function isStateless(revision: string): boolean {
  return revision === STATELESS || (/^\d{4}-\d{2}-\d{2}$/.test(revision) && revision > STATELESS);
}
