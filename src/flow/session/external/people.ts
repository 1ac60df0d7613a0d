// Questions to people other than the caller: who may answer, when people are notified, and the link by which they answer. A person sees
// only their own questions of a session.
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { unlessLate } from '../../../kernel/base/timing.ts';
import { shorten } from '../../../kernel/base/visible.ts';
import { isOwner, questionsFor } from '../../header.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { MAX_PERSON_CHARS } from '../../question/question.ts';
import type { Addressee, Question } from '../../question/question.ts';
import type { StoredSession } from '../../store/store.ts';
import type { SessionContext } from '../context/session-context.ts';
import { toShortId } from '../../session-id.ts';
import type { SessionHost } from '../turn/turn-request.ts';
import type { Turn } from '../turn/turn.ts';
import type { HandOverRequest } from '../context/requests.ts';
import type { StateView } from '../verbs/view.ts';

/** Pause after a failed notice; doubles each time. */
const AGAIN_MS = 1000;
const MAX_AGAIN_MS = 60_000;
/** A notice that takes longer fails. */
const NOTICE_MS = 10_000;
/** After this time another process may send the notice. */
const CLAIM_MS = 15_000;

/** Gives the question a new addressee, who is notified at once. */
export function handOverQuestion(
  { clock, limits }: Pick<SessionContext, 'clock' | 'limits'>,
  { header, entries }: StoredSession,
  { promptId, principal, to }: HandOverRequest,
): { next: Header; entry: JournalEntry } {
  const ts = clock.now();
  const { id: sessionId, state } = header;
  const current = header.current as Question[];
  const question = current.find((one) => one.promptId === promptId);
  const refused = (reason: string) => new GatewayError('FLOW_INVALID_TRANSITION', { sessionId, state, reason });
  if (!question?.person) throw refused(`the question ${shorten(promptId)} does not wait for another person`);
  if (question.person.principal !== principal) throw refused(`the question ${promptId} is not yours to hand over`);
  if (to.trim() === '' || to.length > MAX_PERSON_CHARS) {
    const reason = `a person with a name of 1 to ${MAX_PERSON_CHARS} characters is needed`;
    throw new GatewayError('FLOW_VALIDATION_FAILED', { sessionId, reason });
  }
  if (!question.person.handOver?.includes(to)) {
    throw refused(`the flow does not let the question ${promptId} be handed over to ${shorten(to)}`);
  }
  if (entries.filter(({ t }) => t === 'hand').length >= limits.handOvers) {
    const what = `no question is handed over more than ${limits.handOvers} times in a session`;
    throw new GatewayError('FLOW_LIMIT', { sessionId, what, limit: 'handOvers' });
  }
  const { told: _, failed: _failed, ...rest } = question.person;
  const person = { ...rest, principal: to, tellAt: ts };
  const next = { ...header, current: current.map((one) => (one === question ? { ...one, person } : one)) };
  // The process that holds the session takes this up.
  if (header.busy) next.left = (header.left ?? 0) + 1;
  return {
    next,
    entry: { t: 'hand', k: question.key, to, by: principal, ts },
  };
}

/** The view of another person; undefined for the caller, who sees everything. */
export function toPersonView(header: Header, principal: string): StateView | undefined {
  if (isOwner(header, principal)) return undefined;
  return { header, history: [], answered: 0, questions: questionsFor(header, principal), data: {} };
}

/** Another person learns only the verdict on their own answer. */
export function limitToPerson(principal: string, turn: Turn): Turn {
  const { header, accepted, verdicts } = turn;
  if (isOwner(header, principal)) return turn;
  return { header, questions: questionsFor(header, principal), ...(accepted !== undefined && { accepted, verdicts }) };
}

/** Announces the turn that another person's answer led to. */
export function notifyCaller(sessions: SessionHost, principal: string, turn: Turn): void {
  if (!isOwner(turn.header, principal)) sessions.emit({ kind: 'turn', turn });
}

/** New addressees, by promptId. */
export type AddresseeUpdates = ReadonlyMap<string, Addressee>;

/** Reserves the due notices for this process for a while. */
export function claimNotices(header: Header, now: number): AddresseeUpdates {
  return new Map(dueOf(header, now).map(({ promptId, person }) => [promptId, { ...person!, tellAt: now + CLAIM_MS }]));
}

/** Sends the due notices, and returns the state to write. */
export async function sendNotices(context: SessionContext, header: Header, now: number): Promise<AddresseeUpdates> {
  const told = dueOf(header, now).map(async (question): Promise<[string, Addressee]> => {
    const isTold = await tell(context, header, question);
    const at = context.clock.now();
    return [question.promptId, isTold ? toldAt(question.person!, at) : notToldAt(question.person!, at)];
  });
  return new Map(await Promise.all(told));
}

/** The open questions with updated addressees. A question that was handed over meanwhile stays as it is. */
export function withAddressees({ current }: Header, telling: AddresseeUpdates): Question[] {
  return (current as Question[]).map((question) => {
    const person = telling.get(question.promptId);
    return person && person.principal === question.person?.principal ? { ...question, person } : question;
  });
}

function dueOf({ current }: Header, now: number): Question[] {
  return (current as Question[]).filter(({ person }) => person?.tellAt !== undefined && person.tellAt <= now);
}

function toldAt({ tellAt: _, failed: _failed, told = 0, notices = 0, ...rest }: Addressee, now: number): Addressee {
  const next = rest.remindMs !== undefined && { tellAt: now + rest.remindMs };
  return { ...rest, told: told + 1, notices: notices + 1, ...next };
}

function notToldAt({ failed = 0, ...rest }: Addressee, now: number): Addressee {
  return { ...rest, failed: failed + 1, tellAt: now + Math.min(AGAIN_MS * 2 ** failed, MAX_AGAIN_MS) };
}

async function tell(
  context: SessionContext,
  header: Header,
  { promptId, prompt, person, pin }: Question,
): Promise<boolean> {
  const { notify, log } = context;
  if (!notify) return true;
  const { id: sessionId, tool } = header;
  const { principal, told = 0, notices = 0 } = person!;
  const kind = told > 0 ? ('reminder' as const) : ('asked' as const);
  try {
    const link = await createPersonLink(context, { sessionId, promptId, person: principal, notice: notices, pin });
    const notice = { kind, person: principal, sessionId, tool, promptId, message: prompt.message };
    await inTime(context, notify(link === undefined ? notice : { ...notice, link }));
    return true;
  } catch (error) {
    log.error({ error, tool, session: toShortId(sessionId) }, 'flow.person-not-told');
    return false;
  }
}

/** Other notices wait for this one, so it has a time limit. */
async function inTime({ clock }: SessionContext, telling: unknown): Promise<void> {
  const told = Promise.resolve(telling).then(() => true);
  if (await unlessLate(told, clock, NOTICE_MS)) return;
  throw new Error(`notify did not settle within ${NOTICE_MS / 1000} seconds`);
}

const PURPOSE = 'flow-person';
const MAX_LENGTH = 8000;

export const PERSON_PATH = '/person';

export interface PersonAddress {
  sessionId: string;
  promptId: string;
  /** The principal who is asked. */
  person: string;
  /** The number of the notice: 0 for the first, then reminders. */
  notice: number;
  /** The pin of the question as it was asked. */
  pin?: string | undefined;
}

/**
 * The link to the page where a person answers one question. It contains a sealed token. Each notice has its own link, so that a reminder
 * still opens in another browser. Undefined if browsers cannot reach this server.
 */
async function createPersonLink(
  { sealer, baseUrl }: Pick<SessionContext, 'sealer' | 'baseUrl'>,
  { sessionId, promptId, person, notice, pin }: PersonAddress,
): Promise<string | undefined> {
  const base = await baseUrl?.();
  if (base === undefined) return undefined;
  return `${base.replace(/\/+$/, '')}${PERSON_PATH}?t=${sealer.seal(PURPOSE, '', [sessionId, promptId, person, notice, pin])}`;
}

/** The content of the token as text, which also names the cookies of the page. Undefined if the token is not valid. */
export function openPersonToken(sealer: Sealer, token: string): string | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const opened = sealer.open(PURPOSE, '', token);
  return opened === undefined ? undefined : JSON.stringify(opened);
}

export function readPersonHandle(handle: string): PersonAddress {
  const [sessionId, promptId, person, notice, pin] = JSON.parse(handle) as [string, string, string, number, string?];
  return { sessionId, promptId, person, notice, pin };
}
