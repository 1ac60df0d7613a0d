// The seed lets the owner of a session speak for its tool while it works: put a question of his own, or end it.
import type { AnyFlow } from '../../define.ts';
import type { Header } from '../../journal.ts';
import { toPromptId } from '../../question/question.ts';
import type { Question } from '../../question/question.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { ContinueRequest } from './requests.ts';
import { toUnaskedEntry } from '../../engine/match-answer.ts';
import type { IncomingAnswer } from '../../engine/match-answer.ts';
import { toMaxPrompts, tooManyPrompts, toVerdicts } from '../turn/turn-changes.ts';
import type { SessionContext } from '../session-context.ts';
import type { Turn } from '../turn/turn.ts';
import { transition } from '../states.ts';
import { toExpiry } from '../ending/timing.ts';

/** Keys of questions that are none of the body's. No author can use it. */
export const OWNER_KEY = '~owner';

export function continueByOwner(
  header: Header,
  { prompt, progress }: ContinueRequest,
  { flow, setup }: { flow: AnyFlow; setup: SessionContext },
): Header {
  refuseUnlessProcessing(header);
  const now = setup.clock.now();
  const maxPrompts = toMaxPrompts({ flow, setup });
  if (!prompt) return { ...header, lastActivityAt: now };
  if (header.prompts >= maxPrompts) throw tooManyPrompts(maxPrompts);
  const attempt = header.prompts + 1;
  const question: Question = {
    ...{ promptId: toPromptId(OWNER_KEY, attempt), key: OWNER_KEY, attempt, kind: prompt.type, prompt },
    ...(progress && { progress }),
  };
  return {
    ...header,
    ...{ state: transition(header, 'prompt'), current: [question], prompts: header.prompts + 1 },
    ...toExpiry(header, now),
  };
}

/** The tool knows nothing of the question, and is not run for the answer: it is at work all the while. */
export function answerForOwner(
  header: Header,
  answer: IncomingAnswer,
  now: number,
): { header: Header; turn: Partial<Turn> } {
  const entry = toUnaskedEntry(answer, now);
  const verdicts = toVerdicts([answer]);
  if (!entry) return { header: { ...header, attempts: header.attempts + 1 }, turn: verdicts };
  const next = {
    ...header,
    state: transition(header, 'respond'),
    current: [],
    expiresAt: header.deadline,
    lastActivityAt: now,
  };
  return { header: next, turn: verdicts };
}

export function completeByOwner(header: Header, now: number): Header {
  refuseUnlessProcessing(header);
  return { ...header, state: transition(header, 'complete'), current: [], lastActivityAt: now };
}

/** Before the first question and while one waits it is the tool's turn alone. */
function refuseUnlessProcessing(header: Header): void {
  if (header.state === 'processing') return;
  transition(header, 'respond');
  const { id, state } = header;
  throw new GatewayError('FLOW_INVALID_TRANSITION', { sessionId: id, state, reason: 'its tool is not at work' });
}
