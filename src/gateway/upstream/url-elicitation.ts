// A handshake server may refuse a call until its user has been to a page (-32042). For a client whose era has no such error,
// the page is a question; once it is answered, the call is made again (matrix §4.2).
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';

const URL_ELICITATION_REQUIRED = -32042;
/** Pages that a call may send its user to, one after the other. */
const MAX_ROUNDS = 8;

export async function withUrlsAsked(exchange: Exchange, call: () => Promise<ResultObject>): Promise<ResultObject> {
  if (exchange.client.dialect !== 'stateless') return call();
  for (let round = 1; ; round++) {
    try {
      return await call();
    } catch (thrown) {
      const pages = pagesOf(thrown);
      if (pages.length === 0 || round > MAX_ROUNDS) throw thrown;
      const answers = await Promise.all(pages.map((page, index) => exchange.ask(toAsk(page, `${round}-${index}`))));
      const refused = answers.find(({ action }) => action !== 'accept');
      if (refused) return notDone(exchange, thrown as ProtocolError, refused);
    }
  }
}

function pagesOf(thrown: unknown): JsonObject[] {
  if (!(thrown instanceof ProtocolError) || thrown.code !== URL_ELICITATION_REQUIRED) return [];
  const pages = isObject(thrown.data) ? thrown.data.elicitations : undefined;
  return Array.isArray(pages) ? pages.filter(isObject) : [];
}

function toAsk({ message, url, elicitationId }: JsonObject, key: string) {
  return { method: 'elicitation/create', params: { mode: 'url', message, url, elicitationId }, key: `url-${key}` };
}

function notDone({ method }: Exchange, error: ProtocolError, { action }: JsonObject): JsonObject {
  const reason = `${error.message} (${String(action)})`;
  if (method !== 'tools/call') throw new GatewayError('ASK_REFUSED', { method: 'elicitation/create', reason });
  return { content: [{ type: 'text', text: reason }], isError: true };
}
