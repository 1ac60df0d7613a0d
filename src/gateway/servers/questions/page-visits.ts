// A handshake server may refuse a call until its user has visited a page (-32042). A client that does not know this error is asked to open
// the page instead, once per page. Its answer says only that the user will open it, so the call is repeated when the server reports the
// visit, or after a while.
import type { Ask, Exchange } from '../../../kernel/exchange.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { CALL_TOOL, ELICIT_INPUT } from '../../../kernel/methods.ts';
import { cancelledBy } from '../../../kernel/base/cancelled-error.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';

const URL_ELICITATION_REQUIRED = -32042;
/** How often a call may send its user to further pages. */
const MAX_PAGE_ROUNDS = 8;
/** How often a call is repeated for the same pages; about ten minutes in all. */
const MAX_ATTEMPTS = 7;

/** The pages that a call has sent its user to. */
export class PageVisits {
  /** Ids and URLs. */
  readonly #asked = new Set<string>();
  #round = 0;
  attempt = 0;

  /** The pages that the user does not know yet. */
  freshOf(pages: JsonObject[]): JsonObject[] {
    return pages.filter((page) => !namesOf(page).some((name) => this.#asked.has(name)));
  }

  isOver(fresh: JsonObject[]): boolean {
    if (fresh.length > 0) this.attempt = 0;
    return fresh.length > 0 ? this.#round === MAX_PAGE_ROUNDS : this.attempt === MAX_ATTEMPTS;
  }

  /** Returns the answer of a user who refuses. */
  async ask(pages: JsonObject[], exchange: Exchange): Promise<JsonObject | undefined> {
    const round = ++this.#round;
    for (const page of pages) for (const name of namesOf(page)) this.#asked.add(name);
    const asked = pages.map((page, index) => exchange.ask(toAsk(page, `${round}-${index}`)));
    return (await Promise.all(asked)).find(({ action }) => action !== 'accept');
  }
}

/** A handshake client that opens pages knows the error, and for one that cannot be asked the error is still the best answer. */
export function isToBeAsked(exchange: Exchange): boolean {
  const { era, capabilities } = exchange.client;
  if (era.asksInAnswers) return true;
  return (
    capabilities.elicitation?.url === undefined && exchange.canAsk({ method: ELICIT_INPUT, params: { mode: 'url' } })
  );
}

export function refusedPages(thrown: unknown): JsonObject[] {
  if (!(thrown instanceof ProtocolError) || thrown.code !== URL_ELICITATION_REQUIRED) return [];
  const pages = isObject(thrown.data) ? thrown.data.elicitations : undefined;
  return Array.isArray(pages) ? pages.filter(isObject) : [];
}

/** Some servers give a page a new id with each call. */
function namesOf({ elicitationId, url }: JsonObject): string[] {
  return [elicitationId, url].filter((name) => typeof name === 'string');
}

function toAsk({ message, url, elicitationId }: JsonObject, key: string): Ask {
  return { method: ELICIT_INPUT, params: { mode: 'url', message, url, elicitationId }, key: `url-${key}` };
}

export function notDone({ method }: Exchange, error: ProtocolError, { action }: JsonObject): JsonObject {
  const reason = `${error.message} (${String(action)})`;
  if (method !== CALL_TOOL) throw new GatewayError('ASK_REFUSED', { method: ELICIT_INPUT, reason });
  return { content: [{ type: 'text', text: reason }], isError: true };
}

/** Visits reported before a caller waits for them. */
const MAX_KNOWN = 1000;
const FIRST_WAIT_MS = 15_000;
const LAST_WAIT_MS = 120_000;

/**
 * Waits for a server to report that a page was visited (`notifications/elicitation/complete`). Not every server does: after a while the caller retries
 * without it.
 */
export class ElicitationCompletions {
  readonly #clock: Clock;
  readonly #known = new BoundedMap<string, true>(MAX_KNOWN);
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  complete(elicitationId: string): void {
    this.#known.set(elicitationId, true);
    for (const look of this.#waiting) look();
  }

  /**
   * Resolves when all of these are complete, or when it is time to retry. `attempt` counts from 0. Rejects if the call is
   * cancelled.
   */
  wait(elicitationIds: readonly string[], signal: Abortable, attempt: number): Promise<void> {
    if (signal.aborted) return Promise.reject(cancelledBy(signal));
    return new Promise((resolve, reject) => {
      const end = (by: () => void): void => {
        stop();
        this.#waiting.delete(look);
        signal.removeEventListener('abort', cancel);
        for (const id of elicitationIds) this.#known.delete(id);
        by();
      };
      const look = (): void => {
        if (elicitationIds.length > 0 && elicitationIds.every((id) => this.#known.peek(id))) end(resolve);
      };
      const cancel = (): void => end(() => reject(cancelledBy(signal)));
      const stop = this.#clock.after(Math.min(FIRST_WAIT_MS * 2 ** attempt, LAST_WAIT_MS), () => end(resolve));
      this.#waiting.add(look);
      signal.addEventListener('abort', cancel, { once: true });
      look();
    });
  }
}
