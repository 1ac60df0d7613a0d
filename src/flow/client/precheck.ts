// Checks an answer by the rules of its prompt before it is sent, so that the user sees mistakes at once. The server decides in the end;
// after a few tries a wrong answer is sent anyway.
import { checkAnswer } from '../question/check-answer.ts';
import type { Complaint } from '../question/question.ts';
import { CANCEL, describeRefusal } from '../../gateway/flow/play/flow-run.ts';
import type { PromptHandlers } from '../../gateway/flow/play/flow-run.ts';
import type { Prompt } from '../../protocol/form/prompt.ts';

const MAX_TRIES = 3;

export async function precheck(
  prompt: Prompt,
  { onFeedback }: Pick<PromptHandlers, 'onFeedback'>,
  answer: (problem?: Complaint) => unknown,
  first?: Complaint,
): Promise<unknown> {
  let value = await answer(first);
  for (let tries = 1; tries < MAX_TRIES && value !== CANCEL; tries++) {
    const problem = problemOf(prompt, value);
    if (!problem) return value;
    onFeedback?.(describeRefusal(problem));
    value = await answer(problem);
  }
  return value;
}

/** If the prompt itself is invalid, the server decides. */
function problemOf(prompt: Prompt, value: unknown): Complaint | undefined {
  try {
    const checked = checkAnswer(value, { kind: prompt.type, prompt });
    return 'complaint' in checked ? checked.complaint : undefined;
  } catch {
    return undefined;
  }
}
