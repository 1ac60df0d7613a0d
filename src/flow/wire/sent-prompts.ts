// Remembers the question that was last sent to each client, by session. An answer without a promptId belongs to it, so that a second click
// never answers the next question.
import type { ClientView } from '../../protocol/exchange.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';
import type { Question } from '../question/question.ts';
import type { SentPrompt } from '../session/verbs/requests.ts';

const MAX_SESSIONS = 20_000;
/** Clients that use one session in turns. */
const MAX_CLIENTS = 8;

/** A connection; for a client without a connection, its user. */
export type Recipient = ClientView | string;

interface Sent extends SentPrompt {
  /** When the question times out. */
  until?: number | undefined;
  /** The client knows that it is closed. */
  isWithdrawn?: true | undefined;
}

export class SentPrompts {
  readonly #sessions = new BoundedMap<string, BoundedMap<Recipient, Sent>>(MAX_SESSIONS);

  add(sessionId: string, to: Recipient, question: Question | undefined): void {
    if (!question) return;
    const clients = this.#sessions.getOrCreate(sessionId, () => new BoundedMap(MAX_CLIENTS));
    const { promptId, key, pin, until } = question;
    clients.set(to, { promptId, key, pin, until });
  }

  /** The clients that show a closed question, once per question. `except` knows it already. */
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
