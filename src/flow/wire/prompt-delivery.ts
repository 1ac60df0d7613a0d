// Sends questions and events of a session to the client that last used it, while it is connected. The reply to a request always goes out
// before messages that follow from it.
import type { ClientView } from '../../protocol/exchange.ts';
import { flowOf } from '../../protocol/interaction.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Watcher } from '../../protocol/target.ts';
import type { Clock } from '../../shared/clock.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';
import type { Log } from '../../shared/log.ts';
import { isEnded, isOwner } from '../header.ts';
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';
import type { SessionEvent } from '../session/session-event.ts';
import { toShortId } from '../session/session-id.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { SentPrompt } from '../session/verbs/requests.ts';
import { toExpiredTurn } from '../session/verbs/session-watch.ts';
import { lookAgain, toEndedParams, toPrompt, toNextMessage, toWaitingFor } from './flow-messages.ts';

/** Limit on remembered sessions; the oldest are dropped first. */
const MAX_CLAIMS = 20_000;

/** A connection; for a client without a connection, its user. */
type Recipient = ClientView | string;

interface PromptDeliveryOptions {
  log: Log;
  clock: Clock;
  /** Called when a client has acknowledged how its session ended. */
  onHeard: (sessionId: string) => void;
}

export class PromptDelivery {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #onHeard: (sessionId: string) => void;
  readonly #watchers = new Map<ClientView, Watcher>();
  readonly #claims = new BoundedMap<string, ClientView>(MAX_CLAIMS);
  /** The highest progress of each session. */
  readonly #furthest = new BoundedMap<string, number>(MAX_CLAIMS);
  readonly #sent = new SentPrompts();
  /** The question that the client of each session was asked last, whether it has acknowledged it or not. */
  readonly #asked = new BoundedMap<string, string>(MAX_CLAIMS);
  readonly #speakers = new WeakSet<ClientView>();
  /** Sessions with a question for a human that the client has not acknowledged. */
  readonly #unsure = new Set<string>();
  /** Clients that are cancelling a session. Their reply tells them the result. */
  readonly #cancelling = new Map<string, ClientView>();

  constructor({ log, clock, onHeard }: PromptDeliveryOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#onHeard = onHeard;
  }

  attend(watcher: Watcher): () => void {
    if (watcher.ask) this.#watchers.set(watcher.client, watcher);
    return () => void this.#watchers.delete(watcher.client);
  }

  canReach(client: ClientView): boolean {
    return this.#watchers.has(client);
  }

  /** The question that was last sent to this client in this session. */
  async sentTo(client: ClientView, sessionId: string): Promise<SentPrompt | undefined> {
    // An acknowledgement that came before the answer may still be in the promise queue.
    if (this.#unsure.has(sessionId)) await new Promise((resolve) => setImmediate(resolve));
    return this.#sent.get(sessionId, this.#recipient(client));
  }

  /** A question goes out in the reply to the client. */
  sending(client: ClientView, { header, questions }: Pick<Turn, 'header' | 'questions'>): void {
    const [question] = questions;
    this.#sent.add(header.id, this.#recipient(client), question);
    if (question) this.#asked.set(header.id, question.promptId);
    const { current = -Infinity } = question?.progress ?? {};
    if (current > (this.#furthest.get(header.id) ?? -Infinity)) this.#furthest.set(header.id, current);
  }

  /** The same, except that a client that cannot acknowledge a question for a human must name it: a second click may be on its way. */
  offering(client: ClientView, turn: Pick<Turn, 'header' | 'questions'>): void {
    if (this.canReach(client) || turn.questions[0]?.by !== 'human') this.sending(client, turn);
  }

  claim(sessionId: string, client: ClientView): void {
    this.#claims.set(sessionId, client);
  }

  /** The sessions whose client is there to be told what happens in them. */
  followed(): string[] {
    return this.#claims.entries().flatMap(([sessionId, client]) => (this.#watchers.has(client) ? [sessionId] : []));
  }

  askedLast(sessionId: string): string | undefined {
    return this.#asked.get(sessionId);
  }

  /** Sends the next message after the current reply, and then what follows from running steps. */
  later(turn: Turn, client: ClientView, next: ReturnType<typeof toNextMessage>): void {
    this.claim(turn.header.id, client);
    setImmediate(() => {
      if (next) this.#tell(turn, next);
      void this.#follow(turn);
    });
  }

  /** Tells clients that show a closed question. `except` learns it in another way. */
  withdraw(header: Header, except: ClientView | undefined): void {
    const { id: sessionId, state } = header;
    const isOpen = (promptId: string, to: Recipient): boolean => isFor(header, promptId, to);
    for (const [client, { promptId, until = Infinity }] of this.#sent.withdrawn(sessionId, isOpen, except)) {
      if (typeof client === 'string') continue; // it cannot receive notifications
      const isLate = until <= this.#clock.now() || header.reason === 'expired';
      const reason = state === 'cancelled' ? 'cancelled' : isLate ? 'timeout' : 'moved';
      this.#watchers.get(client)?.notify?.('interaction.withdrawn', { sessionId, promptId, reason });
    }
  }

  /** Suppresses the notification to the client that cancels. */
  async cancelling<T>(sessionId: string, client: ClientView, cancel: () => Promise<T>): Promise<T> {
    this.#cancelling.set(sessionId, client);
    try {
      return await cancel();
    } finally {
      this.#cancelling.delete(sessionId);
    }
  }

  /** Another client, or the program, has cancelled the session. */
  cancelled(header: Header): void {
    const by = this.#cancelling.get(header.id);
    const client = this.#claims.get(header.id);
    if (client !== by) this.#notify(header.id, 'interaction.ended', toEndedParams({ header, questions: [] }));
    this.withdraw(header, by ?? client);
    this.#forget(header.id);
  }

  /** Sends a turn that no request caused, and what follows from it. */
  happened(turn: Turn): void {
    const next = toNextMessage(turn);
    // The message about the end also closes the question.
    this.withdraw(turn.header, isEnded(turn.header) ? this.#claims.get(turn.header.id) : undefined);
    if (next) this.#tell(turn, next);
    if (isEnded(turn.header)) this.#forget(turn.header.id);
    void this.#follow(turn);
  }

  /** Sends the progress of a step, if it is higher than before. */
  progress({ header: { id: sessionId }, progress }: Extract<SessionEvent, { kind: 'progress' }>): void {
    const client = this.#claims.get(sessionId);
    const watcher = client && this.#watchers.get(client);
    if (!watcher?.ask || progress.current <= (this.#furthest.get(sessionId) ?? -Infinity)) return;
    this.#furthest.set(sessionId, progress.current);
    const params = { sessionId, progress: { ...progress } };
    watcher
      .ask({ method: 'interaction.continue', params })
      .catch((error: unknown) => this.#log.debug({ session: toShortId(sessionId), error }, 'flow.untold'));
  }

  /** Tells the caller whom the session waits for. */
  person(header: Header): void {
    const { id: sessionId } = header;
    this.#notify(sessionId, 'interaction.waiting', { sessionId, ...toWaitingFor(header) });
    this.withdraw(header, undefined);
  }

  /** The client uses the methods of MCP Flow. */
  speaks(client: ClientView): void {
    this.#speakers.add(client);
  }

  speaksFlow(client: ClientView): boolean {
    return this.#speakers.has(client) || flowOf(client.capabilities) !== undefined;
  }

  clientsOf(people: readonly string[]): ClientView[] {
    return [...this.#watchers.keys()].filter(({ principal }) => people.includes(principal));
  }

  /** Sends a question to a client whose user is asked in another user's session. */
  prompt(client: ClientView, { id: sessionId }: Header, question: Question): void {
    const isSure = question.by !== 'human';
    const add = (): void => this.#sent.add(sessionId, this.#recipient(client), question);
    if (isSure) add();
    const put = this.#watchers
      .get(client)
      ?.ask?.({ method: 'interaction.prompt', params: { sessionId, prompt: toPrompt(question) } });
    if (!put) return;
    if (!isSure) this.#unsure.add(sessionId);
    put
      .then(isSure ? undefined : add)
      .catch((error: unknown) => this.#log.debug({ session: toShortId(sessionId), error }, 'flow.untold'))
      .finally(() => this.#unsure.delete(sessionId));
  }

  /** An expiry needs no reply, so it is a notification. */
  expired(header: Header): void {
    this.#notify(header.id, 'interaction.ended', toEndedParams(toExpiredTurn(header)));
    this.happened({ header, questions: [] });
  }

  /** Sends a turn that no request caused; a cancelled session sends only its end. */
  moved(turn: Turn): void {
    if (turn.header.state === 'cancelled') this.#notify(turn.header.id, 'interaction.ended', toEndedParams(turn));
    this.happened(turn);
  }

  warn({ header: { id: sessionId, expiresAt }, remainingMs }: Extract<SessionEvent, { kind: 'warning' }>): void {
    this.#notify(sessionId, 'interaction.timeoutWarning', { sessionId, expiresAt, remainingMs });
  }

  #forget(sessionId: string): void {
    this.#claims.delete(sessionId);
    this.#sent.forget(sessionId);
    this.#furthest.delete(sessionId);
    this.#asked.delete(sessionId);
  }

  #notify(sessionId: string, method: string, params: JsonObject): void {
    const client = this.#claims.get(sessionId);
    if (client) this.#watchers.get(client)?.notify?.(method, params);
  }

  async #follow({ next }: Turn): Promise<void> {
    const turn = await next;
    if (!turn) return;
    this.happened(turn);
  }

  /** Requests without a connection are identified by their user. */
  #recipient(client: ClientView): Recipient {
    return this.canReach(client) ? client : client.principal;
  }

  #tell(turn: Turn, { method, params }: { method: string; params: JsonObject }): void {
    const { id: sessionId } = turn.header;
    const client = this.#claims.get(sessionId);
    const watcher = client && this.#watchers.get(client);
    if (!client || !watcher?.ask) return;
    // Requests may overtake each other, so an answer for a human question counts only after the client has acknowledged it.
    const [question] = turn.questions;
    const isSure = question?.by !== 'human';
    if (question) this.#asked.set(sessionId, question.promptId);
    if (isSure) this.sending(client, turn);
    else this.#unsure.add(sessionId);
    const again = lookAgain(turn.header, { now: this.#clock.now(), isTold: true });
    watcher
      .ask({ method, params: { ...params, ...again } })
      .then(
        () => {
          if (!isSure) this.sending(client, turn);
          if (method === 'interaction.complete') this.#onHeard(sessionId);
        },
        (error: unknown) => this.#log.debug({ session: toShortId(sessionId), error }, 'flow.untold'),
      )
      .finally(() => this.#unsure.delete(sessionId));
  }
}

/** A question that was handed over is open for its new addressee only. */
function isFor(header: Header, promptId: string, to: Recipient): boolean {
  const question = (header.current as Question[]).find((one) => one.promptId === promptId);
  const who = typeof to === 'string' ? to : to.principal;
  return question !== undefined && (!question.person || question.person.principal === who || isOwner(header, who));
}

const MAX_SESSIONS = 20_000;
/** Clients that use one session in turns. */
const MAX_CLIENTS = 8;

interface Sent extends SentPrompt {
  /** When the question times out. */
  until?: number | undefined;
  /** The client knows that it is closed. */
  isWithdrawn?: true | undefined;
}

/**
 * The question that was last sent to each client, by session. An answer without a promptId belongs to it, so that a second click never
 * answers the next question.
 */
class SentPrompts {
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
