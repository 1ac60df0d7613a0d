// Asks one question by a round of its own, while the request of the call stays open; the page brings the answer.
import type { Ask, Exchange } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';
import { OpenQuestions } from '../kernel/containers/open-questions.ts';
import type { AskChannels } from './ask-channels.ts';
import { aboutOf } from './held-rounds.ts';
import type { AskingCall, HeldRound } from './held-rounds.ts';

const KEY = 'q1';

/** For a client that opens URLs but shows no forms: it opens the page. Its confirmation is not the answer. */
export function askOnPage(
  ask: Ask,
  exchange: Exchange,
  channels: AskChannels,
  signal?: AbortSignal,
): Promise<JsonObject> {
  // Only this client gets the link, so the page needs no other proof if the operator trusts the client.
  const isVouched = channels.answerTrust.trusts(exchange.client);
  return withRound({ ask, exchange, channels, isVouched, signal }, async (round, answer) => {
    const url = await channels.link(round);
    channels.log.info({ exchange: exchange.id, server: exchange.server, by: 'page' }, 'ask.put');
    const { message } = (ask.params ?? {}) as { message?: unknown };
    const { onAnswered: _, ...rest } = ask; // opening the page answers nothing
    const params = { mode: 'url', message, url, elicitationId: round.handle };
    const opened = await exchange.ask({ ...rest, params }, signal);
    return opened.action === 'accept' ? answer : opened;
  });
}

/** The gateway notifies the person, and the client does not learn of the question. */
/** The gateway notifies the person, and the client does not learn of the question. */
export function askAside(
  ask: Ask,
  exchange: Exchange,
  channels: AskChannels,
  signal?: AbortSignal,
): Promise<JsonObject> {
  return withRound({ ask, exchange, channels, isVouched: false, signal }, (round, answer) => {
    channels.tellPerson(round);
    return answer;
  });
}

interface AskedRound {
  ask: Ask;
  exchange: Exchange;
  channels: AskChannels;
  isVouched: boolean;
  signal: AbortSignal | undefined;
}

/** Opens a round for one question, and closes it when the work with it is done. */
async function withRound(
  { ask, exchange, channels, isVouched, signal }: AskedRound,
  work: (round: HeldRound, answer: Promise<JsonObject>) => Promise<JsonObject>,
): Promise<JsonObject> {
  const question = new OpenQuestions<Ask>();
  const answer = question.open(KEY, ask, { asker: signal, call: exchange.cancellation ?? exchange.signal });
  if (question.size === 0) return answer; // called off already
  answer.catch(() => {}); // the client may refuse to open the page
  const call: AskingCall = {
    client: exchange.client,
    about: aboutOf(exchange),
    isSent: exchange.server !== undefined,
    isVouched,
    settle(answers, by, who) {
      question.answer(KEY, { ...answers[KEY]! });
      ask.onAnswered?.(by, who);
    },
    expire: () => question.withdraw(KEY),
  };
  let round: HeldRound | undefined;
  try {
    round = channels.rounds.open(call, [{ key: KEY, ask }]);
    return await work(round, answer);
  } finally {
    if (round) {
      round.isOpen = false;
      channels.rounds.collect(round);
    }
    question.withdraw(KEY);
  }
}
