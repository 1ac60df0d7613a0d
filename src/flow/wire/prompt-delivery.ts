// Who is told what happens in a session: the client that last did something with it, as long as it is there. A request that is
// being answered goes out first: whatever follows from it is told after it.
import type { ClientView } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { flowOf } from '../../protocol/interaction.ts';
import type { Watcher } from '../../protocol/target.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { Header } from '../journal.ts';
import { toShortId } from '../short-id.ts';
import type { Question } from '../question/question.ts';
import { toExpiredTurn } from '../session/verbs/session-watch.ts';
import type { SessionEvent } from '../session/session-event.ts';
import type { Turn } from '../session/turn/turn.ts';
import { isEnded } from '../store/store.ts';
import type { SentPrompt } from '../session/verbs/requests.ts';
import { lookAgain } from './look-again.ts';
import { SentPrompts } from './sent-prompts.ts';
import type { Recipient } from './sent-prompts.ts';
import { toOwner } from '../session/session-context.ts';
import { toEndedParams, toPrompt, toNextMessage, toWaitingFor } from './flow-messages.ts';

/** Sessions of clients that never come back are forgotten, oldest first. */
const MAX_CLAIMS = 20_000;

export interface PromptDeliveryOptions {
  log: Log;
  clock: Clock;
  /** Is told when a client has acknowledged how its session ended. */
  onHeard: (sessionId: string) => void;
}

export class PromptDelivery {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #onHeard: (sessionId: string) => void;
  readonly #watchers = new Map<ClientView, Watcher>();
  readonly #claims = new Map<string, ClientView>();
  /** How far each session has said to be. */
  readonly #furthest = new BoundedMap<string, number>(MAX_CLAIMS);
  readonly #sent = new SentPrompts();
  readonly #speakers = new WeakSet<ClientView>();
  /** Sessions with a question for a person's own word that the client has not acknowledged. */
  readonly #unsure = new Set<string>();
  /** Who is about to cancel which session, and learns by the answer that it has. */
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

  /** The question that this client was sent last in this session. */
  async sentTo(client: ClientView, sessionId: string): Promise<SentPrompt | undefined> {
    // What the client acknowledged before it answered is on its way through promises.
    if (this.#unsure.has(sessionId)) await new Promise((resolve) => setImmediate(resolve));
    return this.#sent.get(sessionId, this.#recipient(client));
  }

  /** A question goes out to the client, with the answer to its request. */
  sending(client: ClientView, { header, questions }: Pick<Turn, 'header' | 'questions'>): void {
    const [question] = questions;
    this.#sent.add(header.id, this.#recipient(client), question);
    const { current = -Infinity } = question?.progress ?? {};
    if (current > (this.#furthest.get(header.id) ?? -Infinity)) this.#furthest.set(header.id, current);
  }

  /** As above. One who cannot acknowledge a question for a person's own word has to name it: a second click may be on its way. */
  offering(client: ClientView, turn: Pick<Turn, 'header' | 'questions'>): void {
    if (this.canReach(client) || turn.questions[0]?.by !== 'human') this.sending(client, turn);
  }

  claim(sessionId: string, client: ClientView): void {
    this.#claims.delete(sessionId);
    this.#claims.set(sessionId, client);
    if (this.#claims.size > MAX_CLAIMS) this.#claims.delete(this.#claims.keys().next().value!);
  }

  /** The sessions whose client is there to be told what happens in them. */
  followed(): string[] {
    return [...this.#claims].flatMap(([sessionId, client]) => (this.#watchers.has(client) ? [sessionId] : []));
  }

  /** After the request at hand: what it has led to, and what will follow by itself. */
  later(turn: Turn, client: ClientView, next: ReturnType<typeof toNextMessage>): void {
    this.claim(turn.header.id, client);
    setImmediate(() => {
      if (next) this.#tell(turn, next);
      void this.#follow(turn);
    });
  }

  /** The clients that show a question which is not open any more are told so. `except` learns it in another way. */
  withdraw(header: Header, except: ClientView | undefined): void {
    const { id: sessionId, state } = header;
    const isOpen = (promptId: string, to: Recipient): boolean => isFor(header, promptId, to);
    for (const [client, { promptId, until = Infinity }] of this.#sent.withdrawn(sessionId, isOpen, except)) {
      if (typeof client === 'string') continue; // it cannot be told things
      const isLate = until <= this.#clock.now() || header.reason === 'expired';
      const reason = state === 'cancelled' ? 'cancelled' : isLate ? 'timeout' : 'moved';
      this.#watchers.get(client)?.notify?.('interaction.withdrawn', { sessionId, promptId, reason });
    }
  }

  /** While the client cancels: it is not told what it does itself. */
  async cancelling<T>(sessionId: string, client: ClientView, cancel: () => Promise<T>): Promise<T> {
    this.#cancelling.set(sessionId, client);
    try {
      return await cancel();
    } finally {
      this.#cancelling.delete(sessionId);
    }
  }

  /** Somebody has cancelled it: another client, or the program that serves it. */
  cancelled(header: Header): void {
    const by = this.#cancelling.get(header.id);
    const client = this.#claims.get(header.id);
    if (client !== by) this.#notify(header.id, 'interaction.ended', toEndedParams({ header, questions: [] }));
    this.withdraw(header, by ?? client);
    this.#forget(header.id);
  }

  /** What has happened in a session by itself, and what follows from it. */
  happened(turn: Turn): void {
    const next = toNextMessage(turn);
    // Its end says that it asks nothing any more.
    this.withdraw(turn.header, isEnded(turn.header) ? this.#claims.get(turn.header.id) : undefined);
    if (next) this.#tell(turn, next);
    if (isEnded(turn.header)) this.#forget(turn.header.id);
    void this.#follow(turn);
  }

  /** A step says how far it is. What does not go on is not told. */
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

  /** The caller is told whom the session waits for. */
  person(header: Header): void {
    const { id: sessionId } = header;
    this.#notify(sessionId, 'interaction.waiting', { sessionId, ...toWaitingFor(header) });
    this.withdraw(header, undefined);
  }

  /** A client that uses the methods of MCP Flow. */
  speaks(client: ClientView): void {
    this.#speakers.add(client);
  }

  speaksFlow(client: ClientView): boolean {
    return this.#speakers.has(client) || flowOf(client.capabilities) !== undefined;
  }

  clientsOf(people: readonly string[]): ClientView[] {
    return [...this.#watchers.keys()].filter(({ principal }) => people.includes(principal));
  }

  /** Puts a question to a client whose user is asked in the session of another. */
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

  /** Its time is over: nobody is asked to answer that, so it is a notification. */
  expired(header: Header): void {
    this.#notify(header.id, 'interaction.ended', toEndedParams(toExpiredTurn(header)));
    this.happened({ header, questions: [] });
  }

  /** What has happened by itself; a session that was cancelled so says nothing else of it. */
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

  /** Requests without a connection have nothing in common but their user. */
  #recipient(client: ClientView): Recipient {
    return this.canReach(client) ? client : client.principal;
  }

  #tell(turn: Turn, { method, params }: { method: string; params: JsonObject }): void {
    const { id: sessionId } = turn.header;
    const client = this.#claims.get(sessionId);
    const watcher = client && this.#watchers.get(client);
    if (!client || !watcher?.ask) return;
    // Requests may overtake each other. A person's own word counts for this question only once the client is known to have it.
    const isSure = turn.questions[0]?.by !== 'human';
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

/** A question that was handed over is open for somebody else. */
function isFor({ current, principal }: Header, promptId: string, to: Recipient): boolean {
  const question = (current as Question[]).find((one) => one.promptId === promptId);
  const who = typeof to === 'string' ? to : to.principal;
  return (
    question !== undefined && (!question.person || question.person.principal === who || principal === toOwner(who))
  );
}
