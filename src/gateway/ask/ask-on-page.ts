// Asks a question on our page and asks the client to open it, for clients that open URLs but show no forms. The
// client's confirmation is not the answer; the page brings it.
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { rejectOnAbort } from '../../shared/timing.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { AskChannels } from './ask-channels.ts';
import type { RoundAnswer, AnsweredBy } from './question-round.ts';

const KEY = 'q1';

export async function askOnPage(
  ask: Ask,
  exchange: Exchange,
  channels: AskChannels,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const { promise, resolve, reject } = withResolvers<JsonObject>();
  const { params, client, server } = exchange;
  const call = {
    client,
    about: { tool: String(params.name), server, client: client.info.title ?? client.info.name },
    isSent: server !== undefined,
    settle: (answers: Record<string, RoundAnswer>, by: AnsweredBy) => {
      ask.onAnswered?.(by);
      resolve({ ...answers[KEY]! });
    },
    expire: () => reject(new GatewayError('CANCELLED')),
  };
  promise.catch(() => {}); // the client may have refused already
  const round = channels.rounds.open(call, [{ key: KEY, ask }]);
  try {
    const url = await channels.link(round);
    channels.log.info({ exchange: exchange.id, server, by: 'page' }, 'ask.put');
    const { message } = (ask.params ?? {}) as { message?: unknown };
    const opened = await exchange.ask(
      { ...ask, params: { mode: 'url', message, url, elicitationId: round.handle } },
      signal,
    );
    if (opened.action !== 'accept') return opened;
    return await rejectOnAbort(promise, signal ?? exchange.signal, () => new GatewayError('CANCELLED'));
  } finally {
    round.isOpen = false;
    channels.rounds.collect(round);
  }
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}
