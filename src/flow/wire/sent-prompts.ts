// Which question each client was sent last, by session. An answer that does not name its prompt belongs to that one: a second click, which
// comes in before the next question has gone out, never answers the next.
import type { ClientView } from '../../protocol/exchange.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';
import type { Question } from '../question/question.ts';
import type { SentPrompt } from '../session/verbs/requests.ts';

const MAX_SESSIONS = 20_000;
/** Clients of one user that play one session in turns. */
const MAX_CLIENTS = 8;

/** A connection; where there is none, its user. */
export type Recipient = ClientView | string;

interface Sent extends SentPrompt {
  /** When its time is over. */
  until?: number | undefined;
  /** The client knows that it is not open any more. */
  isWithdrawn?: true | undefined;
}

export class SentPrompts {
  readonly #sessions = new BoundedMap<string, BoundedMap<Recipient, Sent>>(MAX_SESSIONS);

  add(sessionId: string, to: Recipient, question: Question | undefined): void {
    if (!question) return;
    let clients = this.#sessions.get(sessionId);
    if (!clients) this.#sessions.set(sessionId, (clients = new BoundedMap(MAX_CLIENTS)));
    const { promptId, key, pin, until } = question;
    clients.set(to, { promptId, key, pin, until });
  }

  /** Those who show a question that is not open for them any more, each once for each question. `except` knows it anyway. */
  withdrawn(
    sessionId: string,
    isOpen: (promptId: string, to: Recipient) => boolean,
    except: Recipient | undefined,
  ): [Recipient, Sent][] {
    const all = this.#sessions.get(sessionId)?.entries() ?? [];
    const theirs = all.filter(([to, sent]) => !sent.isWithdrawn && !isOpen(sent.promptId, to));
    for (const [, sent] of theirs) sent.isWithdrawn = true;
    return theirs.filter(([to]) => to !== except);
  }

  get(sessionId: string, to: Recipient): SentPrompt | undefined {
    return this.#sessions.get(sessionId)?.get(to);
  }

  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}
