// Calls of some tools need scopes.
import type { Step } from '../../../kernel/step.ts';
import type { AuthOptions } from '../../../mcp/listen/auth/auth-options.ts';
import { defineFeature } from '../feature.ts';
import type { CommonOptions } from '../feature.ts';
import { judgeScopes, requireScopes } from './require-scopes.ts';

export const scopes = defineFeature<object>({
  name: 'scopes',
  create({ auth }) {
    let step = stepFor(auth);
    let toolScopes = auth?.toolScopes;
    return {
      goesByName: () => step !== undefined,
      steps: () => (step ? [step] : []),
      update(next: CommonOptions) {
        if (!('auth' in next)) return undefined;
        step = stepFor(next.auth);
        toolScopes = next.auth?.toolScopes;
        return 'steps';
      },
      checkpoint() {
        const before = { step, toolScopes };
        return { undo: () => void ({ step, toolScopes } = before) };
      },
      judge: async (call) => toolScopes && judgeScopes(toolScopes, call),
    };
  },
});

function stepFor({ toolScopes }: AuthOptions = {}): Step | undefined {
  return toolScopes && requireScopes(toolScopes);
}
