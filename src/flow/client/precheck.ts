// Looks at an answer before it is sent, by the rules that its prompt brings along: whoever mistypes is told at once. The server has the
// last word all the same, and what is wrong again and again is sent to it.
import { checkAnswer } from '../question/check-answer.ts';
import type { Complaint } from '../question/question.ts';
import { CANCEL, describeRefusal } from '../../gateway/flow/play/flow-run.ts';
import type { PromptHandlers } from '../../gateway/flow/play/flow-run.ts';
import type { Prompt } from '../../protocol/prompt.ts';

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

/** A prompt that makes no sense here is the server's to judge. */
function problemOf(prompt: Prompt, value: unknown): Complaint | undefined {
  try {
    const checked = checkAnswer(value, { kind: prompt.type, prompt });
    return 'complaint' in checked ? checked.complaint : undefined;
  } catch {
    return undefined;
  }
}
