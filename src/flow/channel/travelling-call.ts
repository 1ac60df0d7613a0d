// A flow's call that is ended with its questions and made again with the answers: all of the session is in the sealed state that
// the client brings back, and nothing is kept here. What does not fit into that state, or may not be asked that way, goes on as a
// session that is kept, and the call waits.
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { toSuspended } from '../../protocol/suspended.ts';
import type { Resumed } from '../../protocol/suspended.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { StoredSession } from '../store/store.ts';
import type { StartRequest } from '../session/requests.ts';
import type { Question } from '../question/question.ts';
import type { Sessions } from '../session/sessions.ts';
import type { Turn } from '../session/turn.ts';
import type { Bearer, Travelled, TravellingSessions } from '../token/travelling.ts';
import { withoutAsking } from './nobody-to-ask.ts';
import { fromAnswer, isForPage, keyOf, toAsk } from './round.ts';

export interface Leg {
  turn: Turn;
  /** What the call is answered with until it is made again. */
  suspended?: JsonObject;
}

export async function travel(
  exchange: Exchange,
  start: StartRequest,
  { sessions, travelling }: { sessions: Sessions; travelling: TravellingSessions },
): Promise<Leg> {
  const bearer = { principal: start.principal, tool: start.tool, method: exchange.method, args: start.args };
  const { turn, token, session } =
    exchange.resumed?.state !== undefined
      ? await goOn(exchange.resumed, bearer, travelling)
      : await travelling.start({ ...start, via: 'mrtr' }, bearer);
  if (!session) return { turn };
  if (token === undefined || !maySuspend(exchange, turn)) {
    if (!exchange.canAsk(toAsk(turn.questions))) withoutAsking(turn.questions); // or there is nothing to keep it for
    return { turn: await keep(session, turn, sessions) };
  }
  const { method, params, key } = toAsk(turn.questions);
  return { turn, suspended: toSuspended({ questions: { [key!]: { method, params } }, state: token }) };
}

/** A page needs somebody who waits for it. */
function maySuspend(exchange: Exchange, { questions }: Turn): boolean {
  return exchange.maySuspend === true && !questions.some(isForPage) && exchange.canAsk(toAsk(questions));
}

async function goOn({ state, answers }: Resumed, bearer: Bearer, travelling: TravellingSessions): Promise<Travelled> {
  const { principal } = bearer;
  return travelling.go(state!, bearer, async (header, sessions) => {
    const questions = header.current as Question[];
    const answer = answers[keyOf(questions)];
    if (!isObject(answer)) return { header, questions }; // nobody has answered: asked once more
    return sessions.answer({ principal, sessionId: header.id, answers: fromAnswer(questions, answer), via: 'mrtr' });
  });
}

async function keep({ header, entries }: StoredSession, turn: Turn, { setup }: Sessions): Promise<Turn> {
  const { sessionsPerPrincipal: perPrincipal, sessions: total } = setup.limits;
  const made = await setup.store.create(header, entries, { perPrincipal, total });
  if (made === 'ok') return turn;
  const { id: sessionId, state } = header;
  if (made === 'limit')
    throw new GatewayError('FLOW_LIMIT', { what: 'too many sessions', limit: 'sessionsPerPrincipal' });
  throw new GatewayError('FLOW_INVALID_TRANSITION', { sessionId, state, reason: 'it has gone on already' });
}
