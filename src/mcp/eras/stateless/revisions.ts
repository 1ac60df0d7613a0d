// The revisions of the stateless era.
import type { Revision } from '../era.ts';
import { STATELESS_FACTS } from './facts.ts';
import { STATELESS_METHODS } from './methods.ts';

export const STATELESS = '2026-07-28';

export const JULY_2026: Revision = {
  name: STATELESS,
  dialect: 'stateless',
  era: STATELESS_FACTS,
  methods: STATELESS_METHODS,
};
