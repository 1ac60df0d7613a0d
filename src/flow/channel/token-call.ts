// Runs a flow whose call ends with questions and is repeated with the answers. The session is in the sealed state that the client sends
// back, and nothing is stored. If the state is too large, or a question cannot be asked this way, the session moves to the store and the
// call waits. A call with a start id has its session in the store from the start, so that any process finds it when the call is repeated;
// its state only names the session.
import { META } from '../../mcp/eras/meta.ts';
import type { Ask, Exchange } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { toSuspended } from '../../kernel/target.ts';
import type { ResumedCall } from '../../kernel/exchange.ts';
import { isAnonymous } from '../../kernel/base/anonymous.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { isEnded, toOwner, toStoredShare, toDueAt, hasOverdue, waitsForPeopleOrEvents } from '../header.ts';
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';
import { toSessionLimits, tooManySessions } from '../session/context/flow-limits.ts';
import { toStartFingerprint } from '../session-id.ts';
import type { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { StartRequest } from '../session/context/requests.ts';
import { waitForTurn } from '../session/verbs/session-watch.ts';
import type { StoredSession } from '../store/store.ts';
import type { Bearer, TokenTurn, TokenSessions } from '../token/token-sessions.ts';
import { awaitRest, rememberSession } from './abandoned-sessions.ts';
import { applyReply } from './apply-reply.ts';
import { acceptWithoutAsking } from './cannot-ask.ts';
import { toRoundKeys, toFormAsk } from './client-form.ts';
import type { FormRound } from './client-form.ts';
import { sendProgress, reportProgress } from './report-progress.ts';

export interface TokenCallRound extends FormRound {
  /** The result of the call until it is repeated. */
  suspended?: JsonObject;
}

export async function callWithToken(
  exchange: Exchange,
  start: StartRequest,
  { sessions, tokenSessions }: { sessions: Sessions; tokenSessions: TokenSessions },
): Promise<TokenCallRound> {
  const bearer = { principal: start.principal, tool: start.tool, method: exchange.method, args: start.args };
  const { token, session, ...round } =
    exchange.resumed?.state !== undefined
      ? await resumeFromToken(exchange, bearer, tokenSessions)
      : await tokenSessions.start({ ...start, via: 'mrtr' }, bearer, (event) => {
          if (event.kind === 'progress') sendProgress(exchange, event.progress);
        });
  if (!session) return round;
  const { questions } = round.turn;
  if (questions.length === 0) return continueInStore(session, round, { sessions, start, signal: exchange.signal });
  const ask = toFormAsk(round);
  if (token !== undefined && !waitsForPeopleOrEvents(session.header)) {
    const suspended = toSuspendedRound(exchange, ask, { header: session.header, state: token, sessions });
    if (suspended) return { ...round, suspended };
  }
  if (!exchange.canAsk(ask)) acceptWithoutAsking(questions); // throws if nobody can answer
  return continueInStore(session, round, { sessions, start, signal: exchange.signal });
}

async function resumeFromToken(
  exchange: Exchange,
  bearer: Bearer,
  tokenSessions: TokenSessions,
): Promise<FormRound & TokenTurn> {
  const { state, answers } = exchange.resumed as ResumedCall;
  let round: Omit<FormRound, 'turn'> = {};
  const travelled = await tokenSessions.go(state!, bearer, async (header, sessions) => {
    reportProgress(exchange, sessions, header.id); // these sessions belong to this request only
    const session = { principal: bearer.principal, sessionId: header.id };
    const questions = header.current as Question[];
    const answer = answers[toRoundKeys(questions)];
    if (hasOverdue(header, sessions.context.clock.now())) {
      round = { told: 'A question was not answered in time.' };
      return applyTimeouts(sessions, session, { questions, answer });
    }
    if (!isObject(answer)) return { header, questions }; // no answer came, so ask again
    const { turn, ...how } = await applyReply(sessions, session, { questions, answer, via: 'mrtr' });
    round = how;
    return turn;
  });
  return { ...round, ...travelled };
}

/** A question timed out while the token was away. Applies that now; answers to the other questions still count. */
async function applyTimeouts(
  sessions: Sessions,
  session: { principal: string; sessionId: string },
  { questions, answer }: { questions: Question[]; answer: unknown },
): Promise<Turn> {
  const turns: Turn[] = [];
  const stop = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
  const now = await sessions.getState(session).finally(stop); // reading the state ends an expired session
  const turn = turns.length > 0 ? await settled(turns.at(-1)!) : now;
  const rest = questions.filter(({ promptId }) => turn.questions.some((one) => one.promptId === promptId));
  if (rest.length === 0 || !isObject(answer)) return turn;
  return (await applyReply(sessions, session, { questions: rest, answer, via: 'mrtr' })).turn;
}

/** The result of a call that ends with its questions; undefined if it has to wait. `state` comes back with the answers. */
export function toSuspendedRound(
  exchange: Exchange,
  ask: Ask,
  { header, state, sessions }: { header: Header; state: string; sessions: Sessions },
): JsonObject | undefined {
  if (!maySuspend(exchange, ask)) return undefined;
  const { method, params, key, human } = ask;
  // A gateway between us and the client must know, too.
  const marked = human ? { ...params, _meta: { [META.human]: true } } : params;
  const questions = { [key!]: { method, params: marked } };
  // The state must be good for as long as the session, which may wait for days.
  const lastsMs = header.expiresAt - sessions.context.clock.now();
  return toSuspended({ questions, state, lastsMs });
}

/** A page needs a call that waits for it. */
function maySuspend(exchange: Exchange, ask: Ask): boolean {
  if (ask.human && exchange.client.isUnproven) return false;
  return exchange.maySuspend === true && ask.page !== true && exchange.canAsk(ask);
}

/** Moves the session to the store; the call waits. */
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

/** From here on the caller may come back for the session, with the same state or by another call. */
async function storeSession(
  { header, entries }: StoredSession,
  sessions: Sessions,
  start: StartRequest,
): Promise<'ok' | 'exists'> {
  const { store, limits } = sessions.context;
  header.started = toStartFingerprint(start.tool, start.args);
  header.principal = toOwner(start.principal, store.salt);
  if (start.share !== undefined) header.share = toStoredShare(start.principal, start.share, store.salt);
  if (!isAnonymous(start.principal)) await rememberSession(sessions, start, header.id);
  const made = await store.create(header, entries, toSessionLimits(limits, toDueAt(header)));
  if (made === 'limit') throw tooManySessions(limits, 'sessionsPerPrincipal');
  if (made === 'network') throw tooManySessions(limits, 'sessionsPerNetwork');
  if (made === 'ok') sessions.expect(header);
  return made;
}

/** The token was used before and the session has been stored since. The client does not know, and continues from where it stands. */
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

/** No token has a space in it. */
const STATE = /^(\S+) \d+$/;

/** The state of a call with a start id. It names the round, too, as an answer counts only for the questions that were shown. */
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
