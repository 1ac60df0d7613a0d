// A question put by our page, which the client is asked to open: for clients that open pages and show no forms. That the client
// says it was opened is no answer; the page brings it.
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { orAborted } from '../../shared/abort.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Means } from './means.ts';
import type { Answer, AnsweredBy } from './round.ts';

const KEY = 'q1';

export async function putByPage(ask: Ask, exchange: Exchange, means: Means, signal?: AbortSignal): Promise<JsonObject> {
  const { promise, resolve, reject } = withResolvers<JsonObject>();
  const { params, client, server } = exchange;
  const call = {
    client,
    about: { tool: String(params.name), server, client: client.info.title ?? client.info.name },
    isSent: server !== undefined,
    settle: (answers: Record<string, Answer>, by: AnsweredBy) => {
      ask.onAnswered?.(by);
      resolve({ ...answers[KEY]! });
    },
    expire: () => reject(new GatewayError('CANCELLED')),
  };
  promise.catch(() => {}); // the client may have refused before
  const round = means.rounds.open(call, [{ key: KEY, ask }]);
  try {
    const url = await means.link(round);
    means.log.info({ exchange: exchange.id, server, by: 'page' }, 'ask.put');
    const { message } = (ask.params ?? {}) as { message?: unknown };
    const opened = await exchange.ask(
      { ...ask, params: { mode: 'url', message, url, elicitationId: round.handle } },
      signal,
    );
    if (opened.action !== 'accept') return opened;
    return await orAborted(promise, signal ?? exchange.signal, () => new GatewayError('CANCELLED'));
  } finally {
    round.isOpen = false;
    means.rounds.collect(round);
  }
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}
