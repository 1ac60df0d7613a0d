// All revisions, oldest first. A new one is a folder and a row here; what is deleted here nobody speaks any more.
import { DRAFT } from './draft/revisions.ts';
import type { Revision } from './era.ts';
import { HANDSHAKE_REVISIONS } from './handshake/revisions.ts';
import { JULY_2026 } from './stateless/revisions.ts';

export const REVISIONS: readonly Revision[] = [
  ...HANDSHAKE_REVISIONS,
  JULY_2026, // the first without sessions
  DRAFT, // a dialect of its own, beside all revisions
];
