// Which question each client was sent last, by session. An answer that does not name its prompt belongs to that one: a second click, which
// comes in before the next question has gone out, never answers the next.
import type { ClientView } from '../../protocol/exchange.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';
import type { Question } from '../question/question.ts';
import type { SentPrompt } from '../session/requests.ts';

const MAX_SESSIONS = 20_000;
/** Clients of one user that play one session in turns. */
const MAX_CLIENTS = 8;

/** A connection; where there is none, its user. */
export type Recipient = ClientView | string;

export class SentPrompts {
  readonly #sessions = new BoundedMap<string, BoundedMap<Recipient, SentPrompt>>(MAX_SESSIONS);

  add(sessionId: string, to: Recipient, question: Question | undefined): void {
    if (!question) return;
    let clients = this.#sessions.get(sessionId);
    if (!clients) this.#sessions.set(sessionId, (clients = new BoundedMap(MAX_CLIENTS)));
    const { promptId, key, pin } = question;
    clients.set(to, { promptId, key, pin });
  }

  get(sessionId: string, to: Recipient): SentPrompt | undefined {
    return this.#sessions.get(sessionId)?.get(to);
  }

  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}
