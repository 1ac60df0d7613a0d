// A handshake server may refuse a call until its user has been to a page (-32042). For a client that does not know such an
// error, the page is a question; once it is answered, the call is made again (matrix §4.2).
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import type { Ending } from './ending.ts';

const URL_ELICITATION_REQUIRED = -32042;
/** Pages that a call may send its user to, one after the other. */
const MAX_ROUNDS = 8;

/** How calls of one kind are made, and what becomes of them; the same for all of them. */
export interface CallKind {
  send(exchange: Exchange, ending: Ending): Promise<ResultObject>;
  read(result: ResultObject, exchange: Exchange): ResultObject;
  toError(thrown: unknown, exchange: Exchange): unknown;
}

/** One call, with whatever pages have to be visited for it. */
export class CallWithUrls implements Ending {
  readonly #exchange: Exchange;
  readonly #kind: CallKind;
  #round = 1;

  constructor(exchange: Exchange, kind: CallKind) {
    this.#exchange = exchange;
    this.#kind = kind;
  }

  send(): Promise<ResultObject> {
    return this.#kind.send(this.#exchange, this);
  }

  read(result: ResultObject): ResultObject {
    return this.#kind.read(result, this.#exchange);
  }

  async failed(thrown: unknown): Promise<ResultObject> {
    const pages = pagesOf(thrown);
    const round = this.#round++;
    if (pages.length === 0 || round > MAX_ROUNDS || !isToBeAsked(this.#exchange)) {
      throw this.#kind.toError(thrown, this.#exchange);
    }
    const asked = pages.map((page, index) => this.#exchange.ask(toAsk(page, `${round}-${index}`)));
    const refused = (await Promise.all(asked)).find(({ action }) => action !== 'accept');
    return refused ? notDone(this.#exchange, thrown as ProtocolError, refused) : this.send();
  }
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
