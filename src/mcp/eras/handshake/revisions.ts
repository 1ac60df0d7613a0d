// The revisions of the handshake era.
import type { Revision } from '../era.ts';
import { HANDSHAKE_FEATURES } from './features.ts';
import { HANDSHAKE_FACTS, HANDSHAKE_FACTS_WITH_TASKS } from './facts.ts';
import { HANDSHAKE_METHODS, HANDSHAKE_METHODS_WITH_TASKS } from './methods.ts';

export const HANDSHAKE_REVISIONS: readonly Revision[] = [...HANDSHAKE_FEATURES].map(([name, { tasks }]) => ({
  name,
  dialect: 'handshake',
  era: tasks ? HANDSHAKE_FACTS_WITH_TASKS : HANDSHAKE_FACTS,
  methods: tasks ? HANDSHAKE_METHODS_WITH_TASKS : HANDSHAKE_METHODS,
}));
