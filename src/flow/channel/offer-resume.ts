// Offers to resume a session that an earlier call left behind, or to show its outcome. Offers only sessions of the same caller, and none
// whose call still waits in this process. If it waits in another process, both may answer; each answer counts once.
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import { isAnonymous } from '../../shared/anonymous.ts';
import { randomId } from '../../shared/crypto/ids.ts';
import { earlyEndOf, isEnded, peopleOf } from '../header.ts';
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { StateView } from '../session/view.ts';
import { awaitRest, findAbandoned, isSessionWorking } from './abandoned-sessions.ts';
import type { ResumeContext } from './abandoned-sessions.ts';
import type { CallStart } from './call-receipts.ts';
import { askAlive, describeWaiting } from './report-progress.ts';
import { answerContent } from './client-form.ts';

const FIELD = 'resume';

/** The user wants neither: the call ends and the session stays. */
export class ResumeDeclinedError extends Error {
  constructor(tool: string) {
    super(`${tool} was not started; the earlier session stays open. Call ${tool} again to continue it.`);
  }
}

/** Returns the session to resume, or undefined to start a new one. Throws ResumeDeclinedError. */
export async function offerResume(
  exchange: Exchange,
  start: CallStart,
  context: ResumeContext,
): Promise<Turn | undefined> {
  const { principal } = start;
  if (isAnonymous(principal)) return undefined; // an anonymous caller cannot be recognized
  const left = await findAbandoned(start, context);
  if (!left) return undefined;
  const ask = toOffer(left);
  if (!exchange.canAsk(ask)) return undefined;
  const answer = await askAlive(exchange, ask, context.sessions.context);
  if (answer.action !== 'accept') throw new ResumeDeclinedError(start.tool);
  const session = { principal, sessionId: left.header.id };
  if (answerContent(answer)[FIELD] === true) return awaitRest(context.sessions, session, exchange.signal);
  if (isEnded(left.header)) await context.sessions.acknowledge(session.sessionId);
  else await context.sessions.cancel({ ...session, reason: 'It was started over' }).catch(() => {});
  return undefined;
}

function toOffer(left: StateView): Ask {
  const { message, title, otherwise } = wordsFor(left);
  const field = { type: 'boolean', title, description: `No: start over${otherwise}.` };
  const requestedSchema = { type: 'object', properties: { [FIELD]: field }, required: [FIELD] };
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema },
    key: randomId('resume_'),
    askedFirst: true,
  };
}

function wordsFor({ header, answered, questions }: StateView): { message: string; title: string; otherwise: string } {
  if (isEnded(header) && !isSessionWorking(header)) {
    // The process may have died after the answer to the call and before recording it.
    const message = 'You started this before, and it has ended since. You may already have seen how.';
    return { message, title: 'Show how it ended', otherwise: ', and do all of it once more' };
  }
  const count = answered === 1 ? 'one question' : `${answered} questions`;
  const message = `You started this before${answered === 0 ? '' : ` and answered ${count}`}. ${toNext(header, questions)}`;
  if (earlyEndOf(header)) return { message, title: 'Wait for that, and show why it failed', otherwise: ' meanwhile' };
  return { message, title: 'Continue from there', otherwise: ', and forget what was answered' };
}

function toNext(header: Header, [question]: Question[]): string {
  if (earlyEndOf(header)) return 'It has failed, and its effects are being undone.';
  if (isSessionWorking(header)) return 'It is still running.';
  return question ? `The next question is: ${question.prompt.message}` : `${describeWaiting(peopleOf(header))}.`;
}
