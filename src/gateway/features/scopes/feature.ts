// Calls of some tools need scopes.
import { defineFeature } from '../feature.ts';
import { requireScopes } from './require-scopes.ts';

export const scopes = defineFeature<object>({
  name: 'scopes',
  create({ auth: { toolScopes } = {} }) {
    if (!toolScopes) return undefined;
    const step = requireScopes(toolScopes);
    return { goesByName: () => true, steps: () => [step] };
  },
});
