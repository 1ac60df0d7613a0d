// A handshake server may refuse a call until its user has visited a page (-32042). A client that does not know this error is
// asked to open the page instead, once per page. Its answer says only that the user will open it, so the call is repeated when
// the server reports the visit, or after a while.
import type { Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import type { Abortable } from '../../../shared/cancellation.ts';
import type { ResultHandler } from '../result-handler.ts';

const URL_ELICITATION_REQUIRED = -32042;
/** How often a call may send its user to further pages. */
const MAX_ROUNDS = 8;
/** How often a call is repeated for the same pages; about ten minutes in all. */
const MAX_ATTEMPTS = 7;

/** How to send calls of one kind and handle their results. */
export interface CallKind {
  send(exchange: Exchange, handler: ResultHandler): Promise<ResultObject>;
  read(result: ResultObject, exchange: Exchange): ResultObject;
  toError(thrown: unknown, exchange: Exchange): unknown;
  completed(elicitationIds: readonly string[], signal: Abortable, attempt: number): Promise<void>;
}

/** One call, with the pages that its user has to visit. */
export class CallWithUrls implements ResultHandler {
  readonly #exchange: Exchange;
  readonly #kind: CallKind;
  /** Ids and URLs of the pages asked for; created on first use, because most calls need none. */
  #asked: Set<string> | undefined;
  #round = 0;
  #attempt = 0;

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
    const fresh = pages.filter((page) => !namesOf(page).some((name) => this.#asked?.has(name)));
    if (fresh.length > 0) this.#attempt = 0;
    const isOver = fresh.length > 0 ? this.#round === MAX_ROUNDS : this.#attempt === MAX_ATTEMPTS;
    if (pages.length === 0 || isOver || !isToBeAsked(this.#exchange)) {
      throw this.#kind.toError(thrown, this.#exchange);
    }
    const refused = fresh.length > 0 ? await this.#ask(fresh) : undefined;
    if (refused) return notDone(this.#exchange, thrown as ProtocolError, refused);
    const { cancellation, signal } = this.#exchange;
    const ids = pages.flatMap(({ elicitationId }) => (typeof elicitationId === 'string' ? [elicitationId] : []));
    await this.#kind.completed(ids, cancellation ?? signal, this.#attempt++);
    return this.send();
  }

  /** Returns the answer of a user who refuses. */
  async #ask(pages: JsonObject[]): Promise<JsonObject | undefined> {
    const round = ++this.#round;
    const known = (this.#asked ??= new Set());
    for (const page of pages) for (const name of namesOf(page)) known.add(name);
    const asked = pages.map((page, index) => this.#exchange.ask(toAsk(page, `${round}-${index}`)));
    return (await Promise.all(asked)).find(({ action }) => action !== 'accept');
  }
}

/** A handshake client that opens pages knows the error, and for one that cannot be asked the error is still the best answer. */
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

/** Some servers give a page a new id with each call. */
function namesOf({ elicitationId, url }: JsonObject): string[] {
  return [elicitationId, url].filter((name) => typeof name === 'string');
}

function toAsk({ message, url, elicitationId }: JsonObject, key: string) {
  return { method: 'elicitation/create', params: { mode: 'url', message, url, elicitationId }, key: `url-${key}` };
}

function notDone({ method }: Exchange, error: ProtocolError, { action }: JsonObject): JsonObject {
  const reason = `${error.message} (${String(action)})`;
  if (method !== 'tools/call') throw new GatewayError('ASK_REFUSED', { method: 'elicitation/create', reason });
  return { content: [{ type: 'text', text: reason }], isError: true };
}
