// What the views of test peers say about their eras. The build leaves `*.contract.ts` out.
import type { Dialect, Spoken } from '../../kernel/era/era.ts';
import { DRAFT_FACTS } from './draft/facts.ts';
import { HANDSHAKE_FACTS_WITH_TASKS } from './handshake/facts.ts';
import { STATELESS_FACTS } from './stateless/facts.ts';

export const SPEAKING = {
  handshake: { dialect: 'handshake', era: HANDSHAKE_FACTS_WITH_TASKS },
  stateless: { dialect: 'stateless', era: STATELESS_FACTS },
  draft: { dialect: 'draft', era: DRAFT_FACTS },
} as const satisfies Record<Dialect, Spoken>;
