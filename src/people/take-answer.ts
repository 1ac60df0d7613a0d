// Handles a request that brings an answer, or checks whether the page has brought one. It gets what follows: the result
// of the call, or its next question.
// 1. An invalid answer changes nothing; the model learns why, and the question stays open.
// 2. A question for a human is not answered by a model.
import type { Exchange } from '../kernel/exchange.ts';
import { describeProblem } from '../kernel/form/answer-problem.ts';
import { validateAnswer } from '../kernel/form/validate-answer.ts';
import { isObject } from '../kernel/message.ts';
import type { JsonObject } from '../kernel/message.ts';
import type { ResultObject } from '../kernel/raw/raw-object.ts';
import { dictionary } from '../kernel/containers/dictionary.ts';
import { foreignJson, foreignName, onOneLine } from '../kernel/text/foreign-text.ts';
import { unlessAborted, unlessLate } from '../kernel/base/timing.ts';
import type { AskChannels } from './ask-channels.ts';
import type { EndedRound, HeldRound } from './held-rounds.ts';
import { isEditRequest } from './question-round.ts';
import type { RoundAnswer, RoundQuestion } from './question-round.ts';

/** Stops a model that keeps failing to answer. */
const MAX_ATTEMPTS = 5;

export async function takeAnswer(exchange: Exchange, channels: AskChannels): Promise<ResultObject> {
  const given = readAnswerArguments(exchange.params);
  const { principal } = exchange.client;
  const round = channels.rounds.find(given.handle, principal);
  if (!round?.call.carryBy) return toLost(channels.rounds.whyNot(given.handle, principal));
  const isLook = given.answer === undefined && !given.isDeclined;
  if (round.waitsFor !== undefined) channels.rounds.renew(round);
  const problem =
    isLook || round.waitsFor !== undefined
      ? await waitForPage(round, exchange, channels)
      : bring(given, round, channels);
  if (problem !== undefined) return channels.words(round, problem);
  if (channels.rounds.find(given.handle, principal) !== round)
    return toLost(channels.rounds.whyNot(given.handle, principal));
  channels.rounds.collect(round);
  return round.call.carryBy(exchange);
}

interface AnswerArguments {
  handle: unknown;
  /** Undefined to check whether the page has brought the answer. */
  answer: unknown;
  isDeclined: boolean;
}

/** Models sometimes send the object as text. */
function readAnswerArguments({ arguments: args }: JsonObject): AnswerArguments {
  const { handle, answer, decline } = isObject(args) ? args : {};
  return { handle, answer: typeof answer === 'string' ? fromText(answer) : answer, isDeclined: decline === true };
}

function fromText(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Waits for a while, because the user may still be typing. */
async function waitForPage(
  round: HeldRound,
  { signal }: Exchange,
  { clock, limits }: AskChannels,
): Promise<string | undefined> {
  await unlessLate(unlessAborted(round.answered(), signal), clock, limits.pollMs);
  return round.isOpen ? 'The user has not answered yet.' : undefined;
}

/** What is wrong with the answer; undefined if it was taken or another came first. */
function bring({ answer, isDeclined }: AnswerArguments, round: HeldRound, channels: AskChannels): string | undefined {
  if (!round.isOpen) return undefined;
  const { questions } = round;
  // An edit of an earlier answer does not answer this question, so a model may bring it even if a person must answer.
  if (channels.takesChanges(round) && isEditRequest(questions[0]!.ask, answer)) {
    round.answer({ [questions[0]!.key]: { action: 'accept', content: answer } }, 'relay');
    return undefined;
  }
  if (!channels.takesWords(round)) return 'This answer was not accepted: only the user can give it, on the page.';
  const answers: Record<string, RoundAnswer> = dictionary();
  for (const question of questions) {
    const read = isDeclined ? { action: 'decline' as const } : readAnswer(question, questions.length, answer);
    if (typeof read !== 'string') answers[question.key] = read;
    else if (++round.attempts < MAX_ATTEMPTS) return read;
    else answers[question.key] = { action: 'cancel' };
  }
  round.answer(answers, 'relay');
  return undefined;
}

function readAnswer({ key, ask }: RoundQuestion, count: number, given: unknown): RoundAnswer | string {
  if (ask.params?.mode === 'url') return { action: 'accept' };
  const own = count === 1 ? given : isObject(given) && Object.hasOwn(given, key) ? given[key] : undefined;
  if (own === undefined) return `The question ${foreignJson(key)} has no answer.`;
  const { content, problems } = validateAnswer(ask.params?.requestedSchema, own);
  if (content) return { action: 'accept', content };
  const words = problems.map((problem) => `${foreignName(problem.property)}: ${onOneLine(describeProblem(problem))}`);
  return `The answer does not fit the question. ${words.join(' ')}`;
}

function toLost(ended: EndedRound | undefined): JsonObject {
  const why = ended
    ? `it ${ended.how === 'expired' ? 'has expired' : 'was already answered'}`
    : 'it is unknown, was already used, or the gateway restarted';
  const acted =
    ended && !ended.isSent
      ? 'The tool has not been run.'
      : 'The tool may already have acted: look before you call it again.';
  const text = `This handle has no open question: ${why}. ${acted} To start over, call the tool itself.`;
  return { content: [{ type: 'text', text }], isError: true };
}
