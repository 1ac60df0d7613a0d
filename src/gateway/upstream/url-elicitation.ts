// A handshake server may refuse a call until its user has been to a page (-32042). For a client that does not know such an
// error, the page is a question; once it is answered, the call is made again (matrix §4.2).
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';

const URL_ELICITATION_REQUIRED = -32042;
/** Pages that a call may send its user to, one after the other. */
const MAX_ROUNDS = 8;

/** `read`: what is made of the result, whichever call it is of. */
export function withUrlsAsked(
  exchange: Exchange,
  call: () => Promise<ResultObject>,
  read?: (result: ResultObject) => ResultObject,
): Promise<ResultObject> {
  return call().then(read, (thrown: unknown) => askUrls(thrown, { exchange, call, read }, 1));
}

interface Calling {
  exchange: Exchange;
  call: () => Promise<ResultObject>;
  read: ((result: ResultObject) => ResultObject) | undefined;
}

async function askUrls(thrown: unknown, calling: Calling, round: number): Promise<ResultObject> {
  const { exchange, call, read } = calling;
  const pages = pagesOf(thrown);
  if (pages.length === 0 || round > MAX_ROUNDS || !isToBeAsked(exchange)) throw thrown;
  const answers = await Promise.all(pages.map((page, index) => exchange.ask(toAsk(page, `${round}-${index}`))));
  const refused = answers.find(({ action }) => action !== 'accept');
  if (refused) return notDone(exchange, thrown as ProtocolError, refused);
  return call().then(read, (again: unknown) => askUrls(again, calling, round + 1));
}

/** A handshake client that opens pages knows the error; one that nobody can ask is told no less by it. */
function isToBeAsked(exchange: Exchange): boolean {
  const { dialect, capabilities } = exchange.client;
  if (dialect === 'stateless') return true;
  return (
    capabilities.elicitation?.url === undefined &&
    exchange.canAsk({ method: 'elicitation/create', params: { mode: 'url' } })
  );
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
