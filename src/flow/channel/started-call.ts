// Calls with a start id. Their sessions are in the store from the start, so that a call that is repeated with the id finds its session in
// any process: at work, with an open question, or with its result. Where a call ends with its questions, its state only names the session.
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Header } from '../journal.ts';
import type { Turn } from '../session/turn/turn.ts';
import { toRoundKeys } from './form-round.ts';

/** No token has a space in it. */
const STATE = /^(\S+) \d+$/;

/** Names the session and the round, as an answer counts only for the questions that were shown. */
export function toStartedState({ id, rounds }: Header): string {
  return `${id} ${rounds}`;
}

/** The session that the state of a repeated call names; undefined if there is no state, or the state is the session itself. */
export function startedSessionOf({ resumed }: Exchange): string | undefined {
  return STATE.exec(resumed?.state ?? '')?.[1];
}

/** The answer that came with the call, if it is for the questions that are open now. */
export function answerWithCall({ resumed }: Exchange, { header, questions }: Turn): JsonObject | undefined {
  if (resumed?.state === undefined || resumed.state !== toStartedState(header)) return undefined;
  const answer = resumed.answers[toRoundKeys(questions)];
  return isObject(answer) ? answer : undefined;
}
