// In MCP Flow the owner of a session may speak for its tool while it works: ask a question of its own, or complete the session.
import { transition } from '../../../mcp/flow/flow-states.ts';
import type { AnyFlow } from '../../define.ts';
import type { Header } from '../../journal.ts';
import { toPromptId } from '../../question/question.ts';
import type { Question } from '../../question/question.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { ContinueRequest } from '../context/requests.ts';
import { toUnaskedEntry } from '../../engine/match-answer.ts';
import type { IncomingAnswer } from '../../engine/run-input.ts';
import { toMaxPrompts, tooManyPrompts, toVerdicts } from '../turn/turn-changes.ts';
import type { SessionContext } from '../context/session-context.ts';
import type { Turn } from '../turn/turn.ts';
import { toExpiry } from '../../header.ts';

/** Key of the owner's questions. Authors cannot use it. */
export const OWNER_KEY = '~owner';

export function continueByOwner(
  header: Header,
  { prompt, progress }: ContinueRequest,
  { flow, context }: { flow: AnyFlow; context: SessionContext },
): Header {
  refuseUnlessProcessing(header);
  const now = context.clock.now();
  const maxPrompts = toMaxPrompts({ flow, context });
  if (!prompt) return { ...header, lastActivityAt: now };
  if (header.prompts >= maxPrompts) throw tooManyPrompts(maxPrompts);
  const attempt = header.prompts + 1;
  const question: Question = {
    promptId: toPromptId(OWNER_KEY, attempt),
    key: OWNER_KEY,
    attempt,
    kind: prompt.type,
    prompt,
    ...(progress && { progress }),
  };
  return {
    ...header,
    state: transition(header, 'prompt'),
    current: [question],
    prompts: header.prompts + 1,
    ...toExpiry(header, now),
  };
}

/** The body does not know of this question, and does not run for the answer. */
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

/** The owner may speak only while the tool works. */
function refuseUnlessProcessing(header: Header): void {
  if (header.state === 'processing') return;
  transition(header, 'respond');
  const { id, state } = header;
  throw new GatewayError('FLOW_INVALID_TRANSITION', { sessionId: id, state, reason: 'its tool is not working' });
}
