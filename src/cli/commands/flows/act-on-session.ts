// `parley flows answer`, `cancel` and `retry`. Leaves the request in the store for the server of the flow, which has the code, the keys and
// the waiting client. With --code, this process does the work in the same way.
import { userInfo } from 'node:os';
import { earlyEndOf, isEnded, conditionOf, parkedReason } from '../../../flow/header.ts';
import type { Header, JournalEntry } from '../../../flow/journal.ts';
import { findUnopenable } from '../../../flow/operator/find-unopenable.ts';
import { leaveAnswers, leaveCancel, leaveRetry, heldUntil, findListed } from '../../../flow/operator/leave-request.ts';
import type { OperatorContext } from '../../../flow/operator/leave-request.ts';
import { toPromptId } from '../../../flow/question/question.ts';
import type { Question } from '../../../flow/question/question.ts';
import { Sessions } from '../../../flow/session/sessions.ts';
import { settled } from '../../../flow/session/turn/turn.ts';
import type { Turn } from '../../../flow/session/turn/turn.ts';
import type { ListedSession, StoredSession } from '../../../flow/store/store.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { FlowsCommand } from '../../args/flow-commands.ts';
import { programName } from '../../program.ts';
import { createCliLog } from '../../terminal/cli-log.ts';
import { parseTypedAnswer } from '../../terminal/typed-answer.ts';
import { formatText } from './format.ts';
import type { FlowsContext } from './list-sessions.ts';
import type { OpenStore } from './open-store.ts';

const LOOK_MS = 200;
/** Default time to wait for a server, and then for the steps that it runs. */
const TAKE_MS = 15_000;
const AT_WORK_MS = 3000;

export async function actOnSession(open: OpenStore, listed: ListedSession, context: FlowsContext): Promise<number> {
  const { command, clock } = context;
  const outside = { store: open.store, clock };
  const sessions = command.code === undefined ? undefined : await sessionsHere(open, listed, command);
  const asked = await leaveRequest(outside, listed.header, command);
  if (sessions) await doHere(sessions, listed.header.id);
  return awaitOutcome(outside, asked, { ...context, isDone: sessions !== undefined });
}

/** These sessions do nothing on their own, so the others in the store are not touched. */
async function sessionsHere(
  open: OpenStore,
  { header }: ListedSession,
  { code, sealKeys }: FlowsCommand,
): Promise<Sessions> {
  const { store, keys, flows, options } = open;
  if (!flows.some(({ name }) => name === header.tool)) throw new Error(`${code} exports no flow ${header.tool}.`);
  const sessions = new Sessions(flows, { ...options, store, keys, sweep: false, log: createCliLog('error') });
  const stored = await store.load(header.id);
  const shut = stored ? await findUnopenable(sessions.context, stored) : [];
  if (shut.length === 0) return sessions;
  const how = sealKeys.length > 0 ? 'with these keys' : 'without a key: name the variable that has it with --seal-key';
  throw new Error(`${header.id} cannot continue here: ${shut.join(' and ')} cannot be opened ${how}.`);
}

/** A request in the store: the session when it was left, and the questions that it answers. */
interface LeftRequest {
  header: Header;
  keys: string[];
}

async function leaveRequest(outside: OperatorContext, header: Header, command: FlowsCommand): Promise<LeftRequest> {
  const { action, reason } = command;
  const by = operator();
  if (action === 'cancel') {
    return { header: await leaveCancel(outside, header.id, reason ?? `Cancelled by ${by}`), keys: [] };
  }
  if (action === 'retry') return { header: await leaveRetry(outside, header.id, by), keys: [] };
  const answers = await answersTo(header, command);
  const handed = await leaveAnswers(outside, header.id, { answers, by }).catch((thrown: unknown) => {
    // The advice of this error is for clients.
    if (thrown instanceof GatewayError && thrown.code === 'FLOW_VALIDATION_FAILED') throw new Error(thrown.message);
    throw thrown;
  });
  return { header: handed, keys: answers.map(({ promptId }) => promptId) };
}

function operator(): string {
  try {
    return userInfo().username;
  } catch {
    return 'an operator'; // a container may have no name for its user
  }
}

async function answersTo(header: Header, command: FlowsCommand): Promise<{ promptId: string; value?: unknown }[]> {
  const questions = header.current as Question[];
  const typed = new Map(command.args);
  const [first, ...others] = questions;
  if (command.value !== undefined && first) {
    if (others.length > 0)
      throw new Error(`several questions wait: give --arg ${questions.map(({ key }) => `${key}=…`).join(' --arg ')}.`);
    typed.set(first.key, command.value);
  }
  for (const key of typed.keys()) {
    if (!questions.some((one) => one.key === key)) throw new Error(`no question ${key} waits; ${openWords(questions)}`);
  }
  const open = questions.filter((question) => mayAnswer(question, command.principal));
  const asked = typed.size > 0 ? questions.filter(({ key }) => typed.has(key)) : open.length > 0 ? open : questions;
  const answers: { promptId: string; value?: unknown }[] = [];
  for (const question of asked) {
    refuseOthers(question, command.principal);
    const text = typed.get(question.key);
    answers.push(
      text === undefined ? await byHand(question) : { promptId: question.promptId, value: given(question, text) },
    );
  }
  return answers;
}

function mayAnswer({ person }: Question, named: string | undefined): boolean {
  return !person || person.orCaller === true || person.principal === named;
}

/** An operator must say so when answering for somebody else. */
function refuseOthers(question: Question, named: string | undefined): void {
  if (mayAnswer(question, named)) return;
  const { key, person } = question;
  const who = formatText(person!.principal);
  throw new Error(`${key} is for ${who} to answer. To answer for them: --principal ${who}`);
}

/** A model may have written the command line, so it cannot speak for a person. */
function given(question: Question, text: string): unknown {
  if (question.by !== 'human') return parseTypedAnswer(question, text);
  throw new Error(
    `${question.key} must be answered by a person: leave the answer out, and give it on the terminal when asked.`,
  );
}

async function byHand(question: Question): Promise<{ promptId: string; value?: unknown }> {
  const { promptId, key, prompt } = question;
  if (!process.stdin.isTTY)
    throw new Error(`nobody can type here: give the answer to ${key} (${prompt.message}) as a word.`);
  const { askOnTerminal, CANCELLED } = await import('../../terminal/flow-questions.ts');
  const value = await askOnTerminal(question, new AbortController().signal);
  if (value === CANCELLED) throw new Error('Nothing was answered.');
  return { promptId, value };
}

function openWords(questions: Question[]): string {
  return questions.length === 0 ? 'it asks nothing now.' : `it asks ${questions.map(({ key }) => key).join(', ')}.`;
}

async function doHere(sessions: Sessions, id: string): Promise<void> {
  const turns: Turn[] = [];
  const stop = sessions.on((event) => {
    if (event.kind === 'turn' && event.turn.header.id === id) turns.push(event.turn);
  });
  try {
    await sessions.attend(id);
    for (const turn of turns) await settled(turn);
  } finally {
    stop();
    await sessions.close();
  }
}

type Outcome = { status: number; words: string };

/** Waits until the request in the store is taken by a server, refused, or still waiting after its time. */
async function awaitOutcome(
  outside: OperatorContext,
  asked: LeftRequest,
  context: FlowsContext & { isDone: boolean },
): Promise<number> {
  const { command, print, clock, isDone } = context;
  const { id } = asked.header;
  let until = clock.now() + (isDone ? 0 : (command.waitMs ?? TAKE_MS));
  for (let isTaken = false; ;) {
    const stored = await outside.store.load(id);
    const outcome = stored && toOutcome(stored, asked, command.action);
    const isOver = clock.now() >= until;
    if (outcome && (isOver || conditionOf(stored.header) !== 'working'))
      return printOutcome(outcome, stored.header, context);
    if (isOver) break;
    // A server has taken it; its next question may follow soon.
    if (outcome && !isTaken) until = Math.min(until, clock.now() + (command.waitMs ?? AT_WORK_MS));
    isTaken ||= outcome !== undefined;
    await new Promise<void>((resolve) => void setTimeout(resolve, LOOK_MS));
  }
  print.problem(await whyNot(outside, id));
  return 1;
}

function printOutcome({ status, words }: Outcome, header: Header, { command, print }: FlowsContext): number {
  const questions = (header.current as Question[]).map(({ key, prompt }) => ({ key, message: prompt.message }));
  if (command.json) {
    const state = conditionOf(header);
    print.line(JSON.stringify({ id: header.id, done: status === 0, state, message: words, questions }, undefined, 2));
  } else if (status === 0) print.line(words);
  else print.problem(words);
  return status;
}

/** Undefined while the request is waiting. */
function toOutcome(stored: StoredSession, asked: LeftRequest, action: string): Outcome | undefined {
  const { header } = stored;
  if (header.rev === asked.header.rev) return undefined;
  if (isEnded(header)) return ofEnded(header, action);
  if (action === 'cancel') return undefined;
  const parked = parkedReason(header);
  const isKept = parked !== undefined && keptAnswer(header);
  if (header.handed && !isKept) return undefined;
  const kept = isKept ? `\nThe answer is kept: \`${programName()} flows retry\` tries it again.` : '';
  if (parked !== undefined) return { status: 1, words: `It is parked: ${formatText(parked)}${kept}` };
  if (action === 'retry') return earlyEndOf(header) ? undefined : { status: 0, words: whereNow(header) };
  return ofAnswers(stored, asked);
}

function keptAnswer({ handed }: Header): boolean {
  return handed !== undefined && handed.answers.length > 0;
}

function ofEnded({ state, reason, notUndone }: Header, action: string): Outcome {
  const why = reason === undefined ? '' : ` (${formatText(reason)})`;
  if (notUndone?.length) {
    return {
      status: 1,
      words: `It has ended${why}, but these effects were not undone: ${formatText(notUndone.join(', '))}. Undo them by hand.`,
    };
  }
  if (action === 'cancel' && state !== 'cancelled') return { status: 1, words: `It ended before: ${state}${why}.` };
  return {
    status: state === 'error' ? 1 : 0,
    words: state === 'error' ? `It has failed${why}.` : `It is ${state}${why}.`,
  };
}

function ofAnswers({ header, entries }: StoredSession, { keys }: LeftRequest): Outcome {
  const refused = entries.findLast((entry) => entry.t === 'rej' && keys.includes(toPromptId(entry.k, entry.a)));
  if (refused?.t === 'rej') return { status: 1, words: `Not accepted: ${refused.k}: ${formatText(refused.why)}.` };
  if (keys.every((key) => entries.some((entry) => isAnswerTo(entry, key))))
    return { status: 0, words: whereNow(header) };
  return { status: 1, words: 'It was not accepted: the question is no longer open.' };
}

function isAnswerTo(entry: JournalEntry, promptId: string): boolean {
  return entry.t === 'ans' && toPromptId(entry.k, entry.a) === promptId && entry.meta?.['operator'] !== undefined;
}

function whereNow(header: Header): string {
  const [question] = header.current as Question[];
  if (!question) return 'Done. It is working now.';
  return `Done. It asks ${question.key} now: ${formatText(question.prompt.message)}`;
}

async function whyNot(outside: OperatorContext, id: string): Promise<string> {
  const listed = await findListed(outside, id);
  const look = `Look with: ${programName()} flows show ${id}`;
  if (!listed) return `It is gone. ${look}`;
  const { header } = listed;
  const tries = earlyEndOf(header)?.tries ?? 0;
  if (tries > 0) return `It is being ended; some effects could not be undone yet, after ${tries} tries. ${look}`;
  if (heldUntil(listed, outside) !== undefined)
    return `A server is working on the session, and will continue with this. ${look}`;
  return `No server has taken it yet. It stays in the store until a server runs that serves ${formatText(header.tool)}; --code FILE does it here. ${look}`;
}
