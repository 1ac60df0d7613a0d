// A person's question as a round of the ask page, read from its session with every request. A closed question says why, since the holder of
// the link was asked.
import type { RoundAnswer, ClosedRound, QuestionRound, RoundReceipt } from '../../gateway/ask/question-round.ts';
import { GatewayError } from '../../shared/errors.ts';
import { answerWithRetry } from '../channel/answer-with-retry.ts';
import { toGivenAnswers, toFormAsk } from '../channel/form-round.ts';
import { isMismatch } from '../engine/mismatch.ts';
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';
import { readPersonHandle } from '../session/external/person-link.ts';
import type { PersonAddress } from '../session/external/person-link.ts';
import type { GivenAnswer } from '../session/verbs/requests.ts';
import type { Sessions } from '../session/sessions.ts';
import { isEnded } from '../header.ts';
import type { StoredSession } from '../store/store.ts';

export interface PersonRoundRequest {
  sessions: Sessions;
  /** The name of the server, for the person. */
  server: string;
  /** From the link. */
  handle: string;
}

interface Shown {
  header: Header;
  question: Question;
  /** A rejected answer, which is shown again. */
  given?: readonly GivenAnswer[] | undefined;
  /** Questions of the session were not handed over too often yet. */
  mayHandOver?: boolean | undefined;
}

const KEY = 'q1';

export async function findPersonRound(
  request: PersonRoundRequest,
  given?: readonly GivenAnswer[],
): Promise<QuestionRound | ClosedRound> {
  const { sessions, handle } = request;
  const { sessionId, ...address } = readPersonHandle(handle);
  const principal = address.person;
  try {
    const stored = await sessions.load({ sessionId, mayHave: () => true });
    const question = (stored.header.current as Question[]).find((one) => isMeant(one, address));
    if (!question) return { principal, closed: toWhyNot(stored, address) };
    const mayHandOver = stored.entries.filter(({ t }) => t === 'hand').length < sessions.context.limits.handOvers;
    return toRound(request, { header: stored.header, question, given, mayHandOver });
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('FLOW_SESSION_')) throw thrown;
    return { principal, closed: thrown.code === 'FLOW_SESSION_EXPIRED' ? 'expired' : 'ended' };
  }
}

/** The question of the link, or the same question asked again after a rejected answer. */
function isMeant(
  { promptId, key, pin, complaint, person }: Question,
  address: Omit<PersonAddress, 'sessionId'>,
): boolean {
  if (person?.principal !== address.person) return false;
  if (promptId === address.promptId) return true;
  return complaint !== undefined && key === toKey(address.promptId)[0] && pin === address.pin;
}

function toWhyNot(
  { header, entries }: StoredSession,
  { promptId, person }: Omit<PersonAddress, 'sessionId'>,
): ClosedRound['closed'] {
  if (isEnded(header)) return 'ended';
  const [key, attempt] = toKey(promptId);
  if (entries.some((one) => one.t === 'ans' && one.k === key && one.a >= attempt)) return 'answered';
  return entries.some((one) => one.t === 'hand' && one.k === key && one.by === person) ? 'handed-over' : 'withdrawn';
}

function toKey(promptId: string): [key: string, attempt: number] {
  const at = promptId.lastIndexOf('~');
  return [promptId.slice(0, at), Number(promptId.slice(at + 1))];
}

function toRound(request: PersonRoundRequest, { header, question, given, mayHandOver }: Shown): QuestionRound {
  const { person } = readPersonHandle(request.handle);
  const { notes: _, ...asked } = question; // notes are for the caller
  const handOver = toHandOver(request, header, question);
  return {
    handle: request.handle,
    principal: person,
    questions: [{ key: KEY, ask: toFormAsk({ turn: { header, questions: [asked] }, given }) }],
    about: { tool: header.tool, server: request.server, client: person },
    isOthers: true,
    ...(mayHandOver === false ? { isHandedOverTooOften: handOver !== undefined } : { handOver }),
    expiresAt: Math.min(header.expiresAt, question.until ?? Infinity),
    isOpen: true,
    answer: (answers) => take(request, { header, question }, answers[KEY]!),
  };
}

/** To those whom the flow names; everybody else can be named by a client that speaks MCP Flow. */
function toHandOver(
  request: PersonRoundRequest,
  { id: sessionId }: Header,
  { promptId, person: addressee }: Question,
): QuestionRound['handOver'] {
  const { sessions } = request;
  const { person: principal } = readPersonHandle(request.handle);
  const names = addressee?.handOver?.filter((name) => name !== principal) ?? [];
  if (names.length === 0) return undefined;
  return {
    to: names,
    async give(to) {
      try {
        await sessions.handOver({ principal, sessionId, promptId, to });
        return { principal, closed: 'handed-over' };
      } catch (thrown) {
        if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('FLOW_')) throw thrown;
        const now = await findPersonRound(request);
        return 'closed' in now ? now : { again: now };
      }
    },
  };
}

async function take(
  request: PersonRoundRequest,
  { header, question }: Shown,
  answer: RoundAnswer,
): Promise<RoundReceipt> {
  const { person } = readPersonHandle(request.handle);
  const answers = toGivenAnswers([question], { ...answer });
  const from = { principal: person, sessionId: header.id };
  try {
    const { accepted } = await answerWithRetry(request.sessions, { ...from, answers, src: 'human', via: 'page' });
    if (accepted !== false) return true;
  } catch (thrown) {
    if (isMismatch(thrown)) return { principal: person, closed: 'paused' };
    if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('FLOW_')) throw thrown;
  }
  const now = await findPersonRound(request, answers);
  return 'closed' in now ? now : { again: now };
}
