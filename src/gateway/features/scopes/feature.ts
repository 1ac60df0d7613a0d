// Calls of some tools need scopes.
import type { Step } from '../../../kernel/step.ts';
import type { AuthOptions } from '../../../mcp/listen/auth/auth-options.ts';
import { defineFeature } from '../feature.ts';
import type { CommonOptions } from '../feature.ts';
import { requireScopes } from './require-scopes.ts';

export const scopes = defineFeature<object>({
  name: 'scopes',
  create({ auth }) {
    let step = stepFor(auth);
    return {
      goesByName: () => step !== undefined,
      steps: () => (step ? [step] : []),
      update(next: CommonOptions) {
        if (!('auth' in next)) return undefined;
        step = stepFor(next.auth);
        return 'steps';
      },
      checkpoint() {
        const before = step;
        return { undo: () => void (step = before) };
      },
    };
  },
});

function stepFor({ toolScopes }: AuthOptions = {}): Step | undefined {
  return toolScopes && requireScopes(toolScopes);
}
