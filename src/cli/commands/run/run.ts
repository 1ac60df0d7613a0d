// `parley run`: plays a flow on the terminal, or with the answers of a file. Sessions live in memory only, so a flow that does not finish
// is cancelled, and its effects are undone before the command ends.
import { readFileSync, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { didYouMean } from '../../../kernel/text/suggest.ts';
import { findExportedFlows, isFlow } from '../../../flow/define.ts';
import type { AnyFlow } from '../../../flow/define.ts';
import { NOTHING_FOUND, toExplored } from '../../../flow/explore/exploration.ts';
import type { Exploration } from '../../../flow/explore/exploration.ts';
import { exploreFile } from '../../../flow/explore/explore-file.ts';
import { toInputSchema } from '../../../flow/explore/to-input-schema.ts';
import { isRequired } from '../../../flow/question/answer-schema.ts';
import type { Complaint } from '../../../flow/question/question.ts';
import { Sessions } from '../../../flow/session/sessions.ts';
import { afterSteps } from '../../../flow/session/turn/turn.ts';
import type { Turn } from '../../../flow/session/turn/turn.ts';
import type { GivenAnswer } from '../../../flow/session/context/requests.ts';
import { SessionWatch, waitForTurn } from '../../../flow/session/verbs/session-watch.ts';
import { importFresh, describeImportError } from '../../../kernel/files/import-fresh.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { createLog } from '../../../kernel/base/log.ts';
import type { RunCommand } from '../../args/flow-commands.ts';
import { untilSignal } from '../../signals.ts';
import { formatError } from '../../terminal/format-error.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { toProgressLine, toArguments } from '../../terminal/tool-text.ts';
import { answerForOther, continuesByItself, findOtherQuestions, playToRest } from './other-questions.ts';
import type { OtherQuestion } from './other-questions.ts';

const TERMINAL_USER = { principal: 'terminal' };
const ALIVE_MS = 60_000;
/** Base of event URLs; no network resolves this name (RFC 2606). The user at the terminal types the events. */
const UNREACHABLE_BASE = 'https://flows.invalid';
/** Somebody waits for the command to end, so undoing is not retried for long. */
const UNDO_ATTEMPTS = 3;

const OURS = ['mcp-parley', 'mcp-parley/flow'];

export async function runFlowFile(command: RunCommand, print: Printer): Promise<number> {
  let sessions: Sessions | undefined;
  // Timers of sessions do not keep the process alive, and a flow may wait for nothing else: a sleep, or a pause before a retry.
  const alive = setInterval(() => {}, ALIVE_MS);
  try {
    const flow = await loadFlow(command.file, command.flow);
    const answers = command.answers === undefined ? {} : readAnswers(command.answers);
    // The user's own answers may come as fast as a file can be read.
    const limits = { respondsPerSecond: Infinity, undoAttempts: UNDO_ATTEMPTS };
    sessions = new Sessions([flow], { limits, baseUrl: () => UNREACHABLE_BASE });
    const screen = { isAsking: false };
    tellProgress(sessions, screen, print);
    const args = toArguments(command.args, {}, await schemaOf(flow, command, print));
    const asked = new Set<string>();
    const turn = await play(flow, { sessions, args, answers, asked, refused: new Map(), screen, print });
    tellUnused(flow, Object.keys(answers), asked, print);
    return finish(turn, command, print);
  } catch (thrown) {
    print.problem(formatError(thrown));
    return 1;
  } finally {
    await sessions?.idle();
    await sessions?.close();
    clearInterval(alive);
  }
}

/** From the user's file: the named flow, the default export, or the only one. */
async function loadFlow(file: string, name: string | undefined): Promise<AnyFlow> {
  const bad = (reason: string) => new GatewayError('BAD_OPTION', { option: file, reason });
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`${file} is not there. Check the path.`);
  const module = await importFresh(path, OURS).catch((thrown: unknown) => {
    throw bad(describeImportError(thrown));
  });
  const exported = isObject(module) ? module : {};
  const flows = findExportedFlows(exported);
  if (name !== undefined) {
    const found = flows.find((flow) => flow.name === name);
    if (!found) throw bad(`has no flow ${name}${flows.length > 0 ? `; it has ${namesOf(flows)}` : ''}`);
    return found;
  }
  if (isFlow(exported.default)) return exported.default;
  if (flows.length === 0) throw bad('exports no flow: make one with flow() of mcp-parley/flow and export it');
  if (flows.length > 1) throw bad(`has several flows: name one of ${namesOf(flows)} with --flow`);
  return flows[0]!;
}

function namesOf(flows: AnyFlow[]): string {
  return flows.map(({ name }) => name).join(', ');
}

function readAnswers(path: string): JsonObject {
  const bad = (reason: string) => new GatewayError('BAD_OPTION', { option: `--answers ${path}`, reason });
  let answers: unknown;
  try {
    answers = JSON.parse(readFileSync(path, 'utf8'));
  } catch (thrown) {
    throw bad((thrown as Error).message.replaceAll(/\s+/g, ' ')); // the message may quote lines of the file
  }
  if (!isObject(answers)) throw bad('must be a JSON object with answers by the names of the questions');
  return answers;
}

interface Screen {
  /** A question is on the screen. */
  isAsking: boolean;
}

/** Prints the progress of steps, unless a question is on the screen. */
function tellProgress(sessions: Sessions, screen: Screen, print: Printer): void {
  sessions.on((event) => {
    if (event.kind !== 'progress' || screen.isAsking) return;
    const { current, total, message } = event.progress;
    print.note(toProgressLine({ progress: current, total, message }));
  });
}

/** The schema decides whether 3 is a number or text. Undeclared arguments need exploration to find their questions. */
async function schemaOf(flow: AnyFlow, { file, args }: RunCommand, print: Printer): Promise<JsonObject> {
  if (args.length === 0) return {};
  const declared = flow.input?.json['properties'];
  const isDeclared = (name: string) => isObject(declared) && Object.hasOwn(declared, name);
  if (args.every(([name]) => isDeclared(name))) return toInputSchema(flow, NOTHING_FOUND);
  try {
    const explored = toExplored(flow, [await exploreFile(file)], createLog({ level: 'silent' }));
    tellUnknown(flow, args, [...Object.keys(isObject(declared) ? declared : {}), ...keysOf(explored)], print);
    return toInputSchema(flow, explored);
  } catch (thrown) {
    print.problem(formatError(thrown));
    return toInputSchema(flow, NOTHING_FOUND);
  }
}

function keysOf({ questions }: Exploration): string[] {
  return questions.map(({ spec }) => spec.key);
}

/** Only a warning: exploring may have missed a question. Questions of a loop (`seat#2`) or a scope are not listed. */
function tellUnknown({ name: flow }: AnyFlow, args: RunCommand['args'], known: string[], print: Printer): void {
  for (const [name] of args) {
    if (known.includes(name) || /[#/]/.test(name)) continue;
    print.problem(`--arg ${name}: ${flow} has no question of this name. ${didYouMean(name, known)}`);
  }
}

interface FlowPlay {
  sessions: Sessions;
  args: JsonObject;
  /** Answers by the key of their question. */
  answers: JsonObject;
  /** Collects the keys of the questions that were asked. */
  asked: Set<string>;
  /** Why an event was refused, by its key. */
  refused: Map<string, Complaint>;
  screen: Screen;
  print: Printer;
}

/** Plays the flow to its end. Cancels it on a signal, or when a question has no answer. */
async function play(flow: AnyFlow, playing: FlowPlay): Promise<Turn> {
  const { sessions, args } = playing;
  const started = await sessions.start({ ...TERMINAL_USER, tool: flow.name, args, via: 'terminal' });
  const cancel = (reason: string) => sessions.cancel({ ...TERMINAL_USER, sessionId: started.header.id, reason });
  const moves = new SessionWatch(sessions, started.header, afterSteps);
  const stop = new AbortController();
  const stopped = untilSignal().then(() => stop.abort());
  try {
    const turn = await Promise.race([playOn(started, playing, { moves, stop: stop.signal }), stopped]);
    return turn ?? (await cancel('The command was interrupted'));
  } catch (thrown) {
    await cancel('The command could not continue').catch(() => {}); // it may have ended already
    throw thrown;
  } finally {
    moves.close();
  }
}

interface PlaySignals {
  moves: SessionWatch;
  /** Aborted by a signal. */
  stop: AbortSignal;
}

/** Undefined if a signal stopped it. */
async function playOn(started: Turn, playing: FlowPlay, watched: PlaySignals): Promise<Turn | undefined> {
  const { sessions, answers, asked: names } = playing;
  const rest = (next: Turn): Promise<Turn> => playToRest(sessions, next, (text) => playing.print.note(text));
  let turn = await rest(started);
  const asked = { ...TERMINAL_USER, sessionId: turn.header.id };
  let rounds = 0;
  for (;;) {
    const other = otherOf(turn, playing);
    const shown = other ? { ...turn, questions: [other.question] } : turn;
    if (shown.questions.length === 0) return turn;
    for (const { key } of shown.questions) names.add(key);
    const given = fromFile(shown, answers);
    const round =
      given.length > 0
        ? { answers: given }
        : await byHand(shown, { isFirst: rounds === 0, other }, { ...playing, ...watched });
    if (watched.stop.aborted) return undefined;
    if (round === 'late') turn = await rest(await watched.moves.moved!);
    else if (round === 'passes') turn = await rest(await waitForTurn(sessions, turn.header, afterSteps));
    else if (round === 'cancel') turn = await sessions.cancel({ ...asked, reason: 'The user cancelled' });
    else if (round === 'back') [turn, rounds] = [await rest(await sessions.back(asked)), rounds - 1];
    else if (other) turn = await rest(await forOther(turn, { of: other, answer: round.answers[0]! }, playing));
    else {
      turn = await rest(await sessions.answer({ ...asked, answers: round.answers, via: 'terminal' }));
      rounds += 1;
    }
  }
}

/** Takes one at a time; those with an answer in the file come first. */
function otherOf(turn: Turn, { answers, refused }: FlowPlay): OtherQuestion | undefined {
  const others = findOtherQuestions(turn, refused);
  return others.find(({ question: { key, attempt } }) => attempt === 1 && Object.hasOwn(answers, key)) ?? others[0];
}

/** Uses each answer once: the same one would be refused again. Leaves out optional answers if nobody can type. */
function fromFile({ questions }: Turn, answers: JsonObject): GivenAnswer[] {
  return questions.flatMap((question) => {
    const { key, promptId, attempt } = question;
    if (attempt > 1) return [];
    if (Object.hasOwn(answers, key)) return [{ promptId, value: answers[key] }];
    return process.stdin.isTTY || isRequired(question) ? [] : [{ promptId }];
  });
}

interface AskedTurn {
  /** There is no earlier question to go back to. */
  isFirst: boolean;
  /** Somebody else's question, which the user answers for them. */
  other: OtherQuestion | undefined;
}

async function byHand(
  turn: Turn,
  { isFirst, other }: AskedTurn,
  { moves, stop, screen, print }: PlaySignals & FlowPlay,
) {
  if (process.stdin.isTTY) {
    const late = new AbortController();
    moves.from(turn, () => late.abort());
    const { askRound } = await import('../../terminal/flow-questions.ts');
    screen.isAsking = true;
    return askRound(turn, isFirst, { late: late.signal, stop }).finally(() => (screen.isAsking = false));
  }
  if (other && continuesByItself(turn)) {
    const { principal, question } = other;
    print.note(
      principal === undefined ? `Waits for the event ${question.key}` : `Waits for ${principal} (${question.key})`,
    );
    return 'passes';
  }
  const open = turn.questions.map(({ key, prompt, complaint }) => {
    const why = complaint && [complaint.error, complaint.suggestion].filter((part) => part !== undefined);
    return `  ${key}: ${why ? `${why.join('. ')}. ` : ''}${prompt.message}`;
  });
  const what = 'There is no terminal, and these questions have no valid answer:';
  throw new Error([what, ...open, 'Give them with --arg or --answers.'].join('\n'));
}

/** An event that does not match its schema is asked for again. */
async function forOther(
  turn: Turn,
  { of, answer }: { of: OtherQuestion; answer: GivenAnswer },
  { sessions, refused }: FlowPlay,
): Promise<Turn> {
  try {
    return await answerForOther(sessions, turn, { of, answer });
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.code !== 'FLOW_VALIDATION_FAILED') throw thrown;
    refused.set(of.question.key, { error: String(thrown.details['reason']) });
    return turn;
  }
}

function tellUnused({ name: flow }: AnyFlow, given: string[], asked: ReadonlySet<string>, print: Printer): void {
  const unused = given.filter((name) => !asked.has(name));
  if (unused.length === 0) return;
  const what = asked.size === 0 ? 'nothing' : [...asked].join(', ');
  print.problem(`--answers: ${flow} did not ask for ${unused.join(', ')}. It asked for ${what}.`);
}

function finish({ header, failure, result }: Turn, { json }: RunCommand, print: Printer): number {
  if (failure) print.problem(`${header.tool} failed: ${failure.message}`);
  else if (header.state === 'cancelled') print.problem(`${header.tool} was cancelled.`);
  else if (json || typeof result !== 'string') print.line(JSON.stringify(result ?? null, undefined, 2));
  else print.line(result);
  return failure || header.state === 'cancelled' ? 1 : 0;
}
