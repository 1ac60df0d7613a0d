// Plays a flow over MCP Flow.
import type { FlowClient } from '../../flow/client/flow-client.ts';
import { CANCEL } from '../../gateway/flow/play/flow-run.ts';
import type { Prompt } from '../../protocol/form/prompt.ts';
import { NoAnswer } from '../../flow/testing/play-flow.ts';
import type { TestUser } from './test-user.ts';

type Call = { tool: string; args: Record<string, unknown> };

export async function playNatively(client: FlowClient, person: TestUser, { tool, args }: Call) {
  const onPrompt = (prompt: Prompt & { promptId?: string }): unknown => {
    person.see('prompt');
    const key = prompt.promptId?.replace(/~\d+$/, '') ?? '';
    const value = person.say(key, prompt.message, { isNeeded: isNeeded(prompt) });
    return value instanceof NoAnswer ? CANCEL : (value ?? null);
  };
  const { result, success, summary } = await client.run(tool, args, { onPrompt });
  return { result: success ? result : summary, isError: !success };
}

/** A confirmation and a form are always needed. */
function isNeeded({ type, validation, choices }: Prompt): boolean {
  return validation?.required === true || type === 'confirm' || (type === 'custom' && !choices);
}
