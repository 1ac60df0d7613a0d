// The seed lets the owner of a session speak for its tool while it works: put a question of his own, or end it.
import type { AnyFlow } from '../../define.ts';
import type { Header } from '../../journal.ts';
import { toPromptId } from '../../question/question.ts';
import type { Question } from '../../question/question.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { ContinueRequest } from './requests.ts';
import { toKept } from '../../engine/fit.ts';
import type { Incoming } from '../../engine/fit.ts';
import { toMaxPrompts, tooManyPrompts, toVerdicts } from '../turn/patches.ts';
import type { Setup } from '../setup.ts';
import type { Turn } from '../turn/turn.ts';
import { react } from '../states.ts';
import { toExpiry } from '../ending/timing.ts';

/** Keys of questions that are none of the body's. No author can use it. */
export const OWNER_KEY = '~owner';

export function continuedByOwner(
  header: Header,
  { prompt, progress }: ContinueRequest,
  { flow, setup }: { flow: AnyFlow; setup: Setup },
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
    ...{ state: react(header, 'prompt'), current: [question], prompts: header.prompts + 1 },
    ...toExpiry(header, now),
  };
}

/** The tool knows nothing of the question, and is not run for the answer: it is at work all the while. */
export function answeredForOwner(
  header: Header,
  answer: Incoming,
  now: number,
): { header: Header; turn: Partial<Turn> } {
  const entry = toKept(answer, now);
  const verdicts = toVerdicts([answer]);
  if (!entry) return { header: { ...header, attempts: header.attempts + 1 }, turn: verdicts };
  const next = {
    ...header,
    state: react(header, 'respond'),
    current: [],
    expiresAt: header.deadline,
    lastActivityAt: now,
  };
  return { header: next, turn: verdicts };
}

export function completedByOwner(header: Header, now: number): Header {
  refuseUnlessProcessing(header);
  return { ...header, state: react(header, 'complete'), current: [], lastActivityAt: now };
}

/** Before the first question and while one waits it is the tool's turn alone. */
function refuseUnlessProcessing(header: Header): void {
  if (header.state === 'processing') return;
  react(header, 'respond');
  const { id, state } = header;
  throw new GatewayError('FLOW_INVALID_TRANSITION', { sessionId: id, state, reason: 'its tool is not at work' });
}
