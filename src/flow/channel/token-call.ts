// A flow's call that is ended with its questions and made again with the answers: all of the session is in the sealed state that
// the client brings back, and nothing is kept here. What does not fit into that state, or may not be asked that way, goes on as a
// session that is kept, and the call waits.
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { toSuspended } from '../../protocol/suspended-call.ts';
import type { ResumedCall } from '../../protocol/suspended-call.ts';
import { isAnonymous } from '../../shared/anonymous.ts';
import { GatewayError } from '../../shared/errors.ts';
import { isEnded } from '../store/store.ts';
import type { StoredSession } from '../store/store.ts';
import type { StartRequest } from '../session/verbs/requests.ts';
import type { Question } from '../question/question.ts';
import type { Sessions } from '../session/sessions.ts';
import { toStartFingerprint } from '../session/verbs/start-id.ts';
import { toDueAt } from '../session/ending/timing.ts';
import type { Bearer, TokenTurn, TokenSessions } from '../token/token-sessions.ts';
import { hasOverdue } from '../session/verbs/load-session.ts';
import { waitsForPeopleOrEvents } from '../session/external/waits.ts';
import { waitForTurn } from '../session/verbs/session-watch.ts';
import { settled } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import { awaitRest, rememberSession } from './abandoned-sessions.ts';
import { acceptWithoutAsking } from './cannot-ask.ts';
import { toRoundKeys, toFormAsk } from './form-round.ts';
import type { FormRound } from './form-round.ts';
import { applyReply } from './apply-reply.ts';
import { sendProgress, reportProgress } from './report-progress.ts';

export interface TokenCallRound extends FormRound {
  /** What the call is answered with until it is made again. */
  suspended?: JsonObject;
}

export async function callWithToken(
  exchange: Exchange,
  start: StartRequest,
  { sessions, travelling }: { sessions: Sessions; travelling: TokenSessions },
): Promise<TokenCallRound> {
  const bearer = { principal: start.principal, tool: start.tool, method: exchange.method, args: start.args };
  const { token, session, ...round } =
    exchange.resumed?.state !== undefined
      ? await resumeFromToken(exchange, bearer, travelling)
      : await travelling.start({ ...start, via: 'mrtr' }, bearer, (event) => {
          if (event.kind === 'progress') sendProgress(exchange, event.progress);
        });
  if (!session) return round;
  const { questions } = round.turn;
  if (questions.length === 0) return continueInStore(session, round, { sessions, start, signal: exchange.signal });
  const ask = toFormAsk(round);
  if (token !== undefined && maySuspend(exchange, ask) && !waitsForPeopleOrEvents(session.header)) {
    const { method, params, key } = ask;
    return { ...round, suspended: toSuspended({ questions: { [key!]: { method, params } }, state: token }) };
  }
  if (!exchange.canAsk(ask)) acceptWithoutAsking(questions); // or there is nothing to keep it for
  return continueInStore(session, round, { sessions, start, signal: exchange.signal });
}

/** The session goes on in the store, and the call waits. */
async function continueInStore(
  session: StoredSession,
  round: FormRound,
  { sessions, start, signal }: { sessions: Sessions; start: StartRequest; signal: AbortSignal },
): Promise<TokenCallRound> {
  const kept = await storeSession(session, sessions, start);
  if (kept !== 'ok') return { turn: await resumeStored(session, sessions, { start, signal }) };
  const { header, questions } = round.turn;
  return questions.length > 0
    ? round
    : { ...round, turn: { header, questions, later: () => waitForTurn(sessions, header) } };
}

/** A page needs somebody who waits for it. */
function maySuspend(exchange: Exchange, ask: Ask): boolean {
  return exchange.maySuspend === true && ask.page !== true && exchange.canAsk(ask);
}

async function resumeFromToken(
  exchange: Exchange,
  bearer: Bearer,
  travelling: TokenSessions,
): Promise<FormRound & TokenTurn> {
  const { state, answers } = exchange.resumed as ResumedCall;
  let round: Omit<FormRound, 'turn'> = {};
  const travelled = await travelling.go(state!, bearer, async (header, sessions) => {
    reportProgress(exchange, sessions, header.id); // these sessions are of this request alone
    const session = { principal: bearer.principal, sessionId: header.id };
    const questions = header.current as Question[];
    const answer = answers[toRoundKeys(questions)];
    if (hasOverdue(header, sessions.setup.clock.now())) {
      round = { told: 'A question was not answered in time.' };
      return applyTimeouts(sessions, session, { questions, answer });
    }
    if (!isObject(answer)) return { header, questions }; // nobody has answered: asked once more
    const { turn, ...how } = await applyReply(sessions, session, { questions, answer, via: 'mrtr' });
    round = how;
    return turn;
  });
  return { ...round, ...travelled };
}

/** Nobody was there when the time of a question was over: that takes effect now, and what was answered to the others counts. */
async function applyTimeouts(
  sessions: Sessions,
  session: { principal: string; sessionId: string },
  { questions, answer }: { questions: Question[]; answer: unknown },
): Promise<Turn> {
  const turns: Turn[] = [];
  const stop = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
  const now = await sessions.getState(session).finally(stop); // reading the state ends a session whose time is over
  const turn = turns.length > 0 ? await settled(turns.at(-1)!) : now;
  const rest = questions.filter(({ promptId }) => turn.questions.some((one) => one.promptId === promptId));
  if (rest.length === 0 || !isObject(answer)) return turn;
  return (await applyReply(sessions, session, { questions: rest, answer, via: 'mrtr' })).turn;
}

/** From here on its caller may come back for it, with the state that led here or by calling the tool again. */
async function storeSession(
  { header, entries }: StoredSession,
  sessions: Sessions,
  start: StartRequest,
): Promise<'ok' | 'exists'> {
  const { store, limits } = sessions.setup;
  header.started = toStartFingerprint(start.tool, start.args);
  if (!isAnonymous(start.principal)) await rememberSession(sessions, start, header.id);
  const most = { perPrincipal: limits.sessionsPerPrincipal, total: limits.sessions, dueAt: toDueAt(header) };
  const made = await store.create(header, entries, most);
  if (made === 'limit')
    throw new GatewayError('FLOW_LIMIT', { what: 'too many sessions', limit: 'sessionsPerPrincipal' });
  if (made === 'ok') sessions.expect(header);
  return made;
}

/** The state was shown before, and the session has been kept since: its client has heard nothing of that, and goes on where it stands. */
async function resumeStored(
  { header: { id: sessionId } }: StoredSession,
  sessions: Sessions,
  { start: { principal }, signal }: { start: StartRequest; signal: AbortSignal },
): Promise<Turn> {
  const turn = await awaitRest(sessions, { principal, sessionId }, signal);
  const { state } = turn.header;
  if (!isEnded(turn.header) || 'result' in turn || turn.failure) return turn;
  throw new GatewayError('FLOW_INVALID_TRANSITION', { sessionId, state, reason: 'it has gone on already' });
}
