// Applies the reply to a round: answers, or a change to earlier answers. Every round accepts `{"edit": {"city": "Rome"}}` or `{"back":
// true}` in place of its answers. A model may have sent a change, so it never counts as a person's own answer; questions that need one are
// asked again.
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { pause } from '../../kernel/base/timing.ts';
import { shorten } from '../../kernel/base/visible.ts';
import type { Via } from '../journal.ts';
import { isFileRef } from '../question/check-answer.ts';
import type { Question } from '../question/question.ts';
import type { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { SessionRequest, AnswerRequest } from '../session/context/requests.ts';
import { toGivenAnswers, answerContent, toFieldNames } from './client-form.ts';
import type { FormRound } from './client-form.ts';

interface RoundReply {
  questions: readonly Question[];
  answer: JsonObject;
  via: Via;
  /** Called with each turn that waits for others. */
  onWaiting?: ((turn: Turn) => void) | undefined;
}

type Change = { edit: JsonObject } | { back: string | undefined };

export async function applyReply(sessions: Sessions, session: SessionRequest, reply: RoundReply): Promise<FormRound> {
  const { questions, answer, via, onWaiting } = reply;
  const change = toChange(questions, answer);
  if (change) return changed(sessions, session, change);
  const given = toGivenAnswers(questions, answer);
  const turn = await answerWithRetry(sessions, { ...session, answers: given, via });
  return { turn: await settled(turn, onWaiting), given };
}

/** If a question is named `edit` or `back`, the field is its answer. */
function toChange(questions: readonly Question[], answer: JsonObject): Change | undefined {
  if (answer.action !== 'accept') return undefined;
  const { edit, back } = answerContent(answer);
  const names = toFieldNames(questions);
  if (isObject(edit) && !names.includes('edit')) return { edit };
  if (names.includes('back')) return undefined;
  if (back === true) return { back: undefined };
  return typeof back === 'string' ? { back } : undefined;
}

/** If nothing can be changed, the same questions are shown with the reason. */
async function changed(sessions: Sessions, session: SessionRequest, change: Change): Promise<FormRound> {
  const { data, ...now } = await sessions.getState(session);
  try {
    if ('back' in change) return { turn: await settled(await sessions.back({ ...session, key: change.back })) };
    let turn: Turn = now;
    for (const [key, value] of Object.entries(change.edit)) {
      if (!Object.hasOwn(data, key) || isFileRef(data[key])) throw refused(`${shorten(key)} cannot be changed`);
      turn = await settled(await sessions.edit({ ...session, key, value, src: 'model' }));
      const wrong = turn.verdicts?.[key];
      if (wrong && !wrong.valid) return { turn, told: `${key}: ${wrong.error}.` };
    }
    return { turn };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.code !== 'FLOW_INVALID_TRANSITION') throw thrown;
    const { header, questions } = await sessions.getState(session);
    return { turn: { header, questions }, told: `Nothing was changed: ${String(thrown.details.reason)}.` };
  }
}

function refused(reason: string): GatewayError {
  return new GatewayError('FLOW_INVALID_TRANSITION', { reason });
}

/**
 * If answers come too fast for the session, waits instead of failing, as the user cannot be asked to retry. Resolves with the direct result
 * of the answer, without waiting for what follows.
 */
export async function answerWithRetry(sessions: Sessions, request: AnswerRequest): Promise<Turn> {
  for (;;) {
    try {
      return await sessions.answer(request);
    } catch (thrown) {
      const wait = waitOf(thrown);
      if (wait === undefined) throw thrown;
      await pause(sessions.context.clock, wait);
    }
  }
}

/** Waits only for the rate limit. */
function waitOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'FLOW_LIMIT') return undefined;
  const { limit, retryAfterMs } = thrown.details;
  return limit === 'respondsPerSecond' && typeof retryAfterMs === 'number' ? retryAfterMs : undefined;
}
