// Asks a question on our page while the call waits.
// `askOnPage`: the client opens the page, because it opens URLs but shows no forms. Its confirmation is not the answer; the page brings it.
// `askAside`: the gateway notifies the person, and the client does not learn of the question.
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { rejectOnAbort } from '../../shared/timing.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { AskChannels } from './ask-channels.ts';
import type { AskingCall, HeldRound } from './held-rounds.ts';

const KEY = 'q1';

export function askOnPage(
  ask: Ask,
  exchange: Exchange,
  channels: AskChannels,
  signal?: AbortSignal,
): Promise<JsonObject> {
  // Only this client gets the link, so the page needs no other proof if the operator trusts the client.
  const isVouched = channels.word.trusts(exchange.client);
  return withRound({ ask, exchange, channels, isVouched }, async (round, answer) => {
    const url = await channels.link(round);
    channels.log.info({ exchange: exchange.id, server: exchange.server, by: 'page' }, 'ask.put');
    const { message } = (ask.params ?? {}) as { message?: unknown };
    const { onAnswered: _, ...rest } = ask; // opening the page answers nothing
    const params = { mode: 'url', message, url, elicitationId: round.handle };
    const opened = await exchange.ask({ ...rest, params }, signal);
    return opened.action === 'accept' ? untilAborted(answer, exchange, signal) : opened;
  });
}

export function askAside(
  ask: Ask,
  exchange: Exchange,
  channels: AskChannels,
  signal?: AbortSignal,
): Promise<JsonObject> {
  return withRound({ ask, exchange, channels, isVouched: false }, (round, answer) => {
    channels.tellPerson(round);
    return untilAborted(answer, exchange, signal);
  });
}

interface AskedRound {
  ask: Ask;
  exchange: Exchange;
  channels: AskChannels;
  isVouched: boolean;
}

/** Opens a round for one question, and closes it when the work with it is done. */
async function withRound(
  { ask, exchange, channels, isVouched }: AskedRound,
  work: (round: HeldRound, answer: Promise<JsonObject>) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { promise, resolve, reject } = withResolvers<JsonObject>();
  const { params, client, server } = exchange;
  const call: AskingCall = {
    client,
    about: { tool: String(params.name), server, client: client.info.title ?? client.info.name },
    isSent: server !== undefined,
    isVouched,
    settle(answers, by, who) {
      ask.onAnswered?.(by, who);
      resolve({ ...answers[KEY]! });
    },
    expire: () => reject(new GatewayError('CANCELLED')),
  };
  promise.catch(() => {}); // the client may have refused already
  const round = channels.rounds.open(call, [{ key: KEY, ask }]);
  try {
    return await work(round, promise);
  } finally {
    round.isOpen = false;
    channels.rounds.collect(round);
  }
}

function untilAborted(
  answer: Promise<JsonObject>,
  exchange: Exchange,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  return rejectOnAbort(answer, signal ?? exchange.signal, () => new GatewayError('CANCELLED'));
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}
