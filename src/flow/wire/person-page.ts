// The page where a person (`ask.person`) answers in a browser. It is the ask page of the gateway over a session instead of a waiting call, so
// every process can show it while the question is open.
import { hash } from 'node:crypto';
import { servePage } from '../../people/page/ask-page.ts';
import { wordsForOthers } from '../../people/page/locales/page-words.ts';
import { cookieName } from '../../people/page/page-owners.ts';
import type { PageOwners } from '../../people/page/page-owners.ts';
import type { RoundAnswer, ClosedRound, QuestionRound, RoundReceipt } from '../../people/question-round.ts';
import { randomId } from '../../kernel/crypto/ids.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { HttpHandler, HttpRequest } from '../../kernel/base/http.ts';
import { cookiesNamed } from '../../kernel/net/browser-request.ts';
import { answerWithRetry } from '../channel/apply-reply.ts';
import { toGivenAnswers, toFormAsk } from '../channel/client-form.ts';
import { isMismatch } from '../engine/mismatch.ts';
import { isEnded } from '../header.ts';
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';
import { PERSON_PATH, openPersonToken, readPersonHandle } from '../session/external/people.ts';
import type { PersonAddress } from '../session/external/people.ts';
import type { SessionContext } from '../session/context/session-context.ts';
import type { Sessions } from '../session/sessions.ts';
import type { GivenAnswer } from '../session/context/requests.ts';
import type { StoredSession } from '../store/store.ts';

type Identify = (request: HttpRequest) => Promise<string | undefined>;

interface PersonPageOptions {
  /** The name of the server, for the person. */
  server: string;
  /** Identifies the sender of a request, if the server can. */
  identify: () => Identify | undefined;
  /** Trust a browser that `identify` does not know, because it has the link. */
  trustsLinks: () => boolean;
}

export function personPage(sessions: Sessions, { server, identify, trustsLinks }: PersonPageOptions): HttpHandler {
  const { sealer, clock, log, baseUrl } = sessions.context;
  return servePage({
    sealer,
    clock,
    log,
    words: wordsForOthers,
    links: { path: PERSON_PATH, open: (token) => openPersonToken(sealer, token) },
    owners: sealedOpeners(sessions.context),
    round: (handle) => findPersonRound({ sessions, server, handle }),
    baseUrl: async () => (await baseUrl?.()) ?? 'http://127.0.0.1', // the Host of the request counts as well
    async isTheirs(principal, request) {
      const known = identify();
      if (!known) return true;
      const visitor = await known(request);
      return visitor === undefined ? trustsLinks() : visitor === principal;
    },
  });
}

interface PersonRoundRequest {
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

/**
 * The person's question as a round of the ask page, read from its session with every request. A closed question says why, since the holder
 * of the link was asked.
 */
async function findPersonRound(
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

/** To those whom the flow names, as in every other channel. */
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

const PURPOSE = 'flow-person-browser';

/**
 * Binds the link of a person to the browser that opens it first. A question may be open for days and any process may show it, so the
 * browser keeps the state in a sealed cookie, and the store only remembers that the link was opened.
 */
function sealedOpeners({ sealer, store, clock, limits }: SessionContext): PageOwners {
  const open = (handle: string, cookies: string | undefined): [string, RoundAnswer['action']?] | undefined => {
    const [content] = cookiesNamed(cookieName(handle), cookies);
    return content === undefined ? undefined : (sealer.open(PURPOSE, handle, content) as [string]);
  };
  return {
    async bind({ handle, expiresAt }: QuestionRound) {
      const stored = await store.load(readPersonHandle(handle).sessionId);
      // The question may be asked again and its session be parked; the link must stay bound all that time.
      const until = Math.max(expiresAt, stored?.header.deadline ?? 0) + limits.parkedMs;
      const isFirst = await store.spend(toSpent(handle), 0, until - clock.now());
      return isFirst ? sealer.seal(PURPOSE, handle, [randomId()]) : undefined;
    },
    isBound: () => false, // known only when it is opened
    browserOf: (handle, cookies) => open(handle, cookies)?.[0],
    settle: (handle, browser, outcome) => sealer.seal(PURPOSE, handle, [browser, outcome]),
    outcomeOf: (handle, cookies) => open(handle, cookies)?.[1],
  };
}

function toSpent(handle: string): string {
  return hash('sha256', `mcp-parley/person-link\0${handle}`, 'base64url');
}
