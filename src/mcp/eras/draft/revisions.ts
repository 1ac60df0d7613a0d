// The `draft` dialect, as a row in the list of revisions.
import type { Revision } from '../era.ts';
import { DRAFT_FACTS } from './facts.ts';
import { DRAFT_METHODS } from './methods.ts';

/** The only `mcpVersion` of the dialect. MCP has a revision of the same name. */
export const DRAFT_VERSION = '2025-06-18';

export const DRAFT: Revision = { name: 'draft', dialect: 'draft', era: DRAFT_FACTS, methods: DRAFT_METHODS };
