// A call whose client went away leaves its session behind, until that expires. Whoever calls the tool again is asked whether to go on
// with it. Only sessions of the same caller are offered, and none whose call still waits in this process; should it wait in another
// one, both may answer: each answer counts once.
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import { isAnonymous } from '../../shared/anonymous.ts';
import { GatewayError } from '../../shared/errors.ts';
import { randomId } from '../../shared/ids.ts';
import { isDeepStrictEqual } from 'node:util';
import type { StartRequest } from '../session/requests.ts';
import type { Sessions } from '../session/sessions.ts';
import type { Turn } from '../session/turn.ts';
import type { StateView } from '../session/view.ts';
import { contentOf } from './to-form.ts';

const FIELD = 'resume';

export interface Offering {
  sessions: Sessions;
  /** Sessions whose calls wait in this process. */
  waiting: ReadonlySet<string>;
}

/** The session as it was left; undefined where there is none, or it is to begin anew. */
export async function offerResume(
  exchange: Exchange,
  start: StartRequest,
  offering: Offering,
): Promise<Turn | undefined> {
  const { principal } = start;
  if (isAnonymous(principal)) return undefined; // nobody can come back for what was theirs
  const left = await findLeft(start, offering);
  if (!left) return undefined;
  const { header, questions } = left;
  const ask = toOffer(left);
  if (!exchange.canAsk(ask)) return undefined;
  const answer = await exchange.ask(ask);
  if (answer.action !== 'accept') return undefined;
  if (contentOf(answer)[FIELD] === true) return { header, questions };
  await offering.sessions.cancel({ principal, sessionId: header.id, reason: 'It was begun anew' }).catch(() => {});
  return undefined;
}

/** The newest one that what is given now would not change. */
async function findLeft(
  { principal, tool, args = {} }: StartRequest,
  { sessions, waiting }: Offering,
): Promise<StateView | undefined> {
  const open = await sessions.list(principal);
  const left = open.filter(
    ({ id, tool: of, state, via, rounds }) =>
      of === tool && state === 'waiting_user' && via === 'elicit' && rounds > 1 && !waiting.has(id),
  );
  const newest = left.toSorted((one, other) => other.lastActivityAt - one.lastActivityAt)[0];
  if (!newest) return undefined;
  const view = await sessions.getState({ principal, sessionId: newest.id }).catch(endedMeanwhile);
  if (!view) return undefined;
  const isSame = Object.entries(args).every(([name, value]) => isDeepStrictEqual(view.data[name], value));
  return isSame && view.questions.length > 0 ? view : undefined;
}

/** It is listed until somebody has seen that its time is over. */
function endedMeanwhile(thrown: unknown): undefined {
  if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('FLOW_SESSION_')) throw thrown;
}

function toOffer({ history, questions }: StateView): Ask {
  const count = history.length === 1 ? 'one question' : `${history.length} questions`;
  const message = `You began this before and answered ${count}. Next would be: ${questions[0]!.prompt.message}`;
  const field = {
    type: 'boolean',
    title: 'Go on from there',
    description: 'No: begin anew, and forget what was answered.',
  };
  const requestedSchema = { type: 'object', properties: { [FIELD]: field }, required: [FIELD] };
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema },
    key: randomId('resume_'),
    askedFirst: true,
  };
}
