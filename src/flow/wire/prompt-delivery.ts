// Sends questions and events of a session to the client that last used it, while it is connected. The reply to a request always goes out
// before messages that follow from it.
import { PromptTrail } from '../../mcp/flow/prompt-trail.ts';
import type { SentEntry } from '../../mcp/flow/prompt-trail.ts';
import { nextArrival } from '../../kernel/arrival.ts';
import type { Ask, ClientView } from '../../kernel/exchange.ts';
import { flowOf } from '../../kernel/interaction.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Watcher } from '../../kernel/target.ts';
import {
  FLOW_COMPLETE,
  FLOW_CONTINUE,
  FLOW_ENDED,
  FLOW_PROMPT,
  FLOW_TIMEOUT_WARNING,
  FLOW_WAITING,
  FLOW_WITHDRAWN,
} from '../../kernel/methods.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import type { Log } from '../../kernel/base/log.ts';
import { isEnded, isOwner } from '../header.ts';
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';
import type { SessionEvent } from '../session/turn/session-event.ts';
import { toShortId } from '../session-id.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { SentPrompt } from '../session/context/requests.ts';
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

  /** The question of this session that the client had been sent, and a consent also acknowledged, when its answer arrived. */
  async sentTo(client: ClientView, sessionId: string, arrival: number): Promise<SentPrompt | undefined> {
    const trail = this.#sent.get(sessionId, this.#recipient(client));
    // Lets an acknowledgement that came before the answer be handled. Later ones do not count.
    if (trail?.isUnsure) await new Promise((resolve) => setImmediate(resolve));
    return trail?.meantAt(arrival, ({ isConsent }) => isConsent);
  }

  /** A question goes out in the reply to the client. */
  sending(client: ClientView, { header, questions }: Pick<Turn, 'header' | 'questions'>): void {
    const [question] = questions;
    if (question) this.#sent.add(header.id, this.#recipient(client), question).acknowledgedAt = nextArrival();
    this.#put(header.id, question);
  }

  /** The same, except that a client that cannot acknowledge a consent must name it: a second click may be on its way. */
  offering(client: ClientView, turn: Pick<Turn, 'header' | 'questions'>): void {
    if (this.canReach(client) || turn.questions[0]?.consent === undefined) this.sending(client, turn);
  }

  #put(sessionId: string, question: Question | undefined): void {
    if (question) this.#asked.set(sessionId, question.promptId);
    const { current = -Infinity } = question?.progress ?? {};
    if (current > (this.#furthest.get(sessionId) ?? -Infinity)) this.#furthest.set(sessionId, current);
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
      this.#watchers.get(client)?.notify?.(FLOW_WITHDRAWN, { sessionId, promptId, reason });
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
    if (client !== by) this.#notify(header.id, FLOW_ENDED, toEndedParams({ header, questions: [] }));
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
      .ask({ method: FLOW_CONTINUE, params })
      .catch((error: unknown) => this.#log.debug({ session: toShortId(sessionId), error }, 'flow.untold'));
  }

  /** Tells the caller whom the session waits for. */
  person(header: Header): void {
    const { id: sessionId } = header;
    this.#notify(sessionId, FLOW_WAITING, { sessionId, ...toWaitingFor(header) });
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
    const watcher = this.#watchers.get(client);
    if (!watcher?.ask && question.consent !== undefined) return; // it is in the reply, and must be named
    const sent = this.#sent.add(sessionId, this.#recipient(client), question);
    if (!watcher?.ask) return void (sent.acknowledgedAt = nextArrival());
    const ask = { method: FLOW_PROMPT, params: { sessionId, prompt: toPrompt(question) } };
    this.#ask(watcher, ask, sent).catch((error: unknown) =>
      this.#log.debug({ session: toShortId(sessionId), error }, 'flow.untold'),
    );
  }

  /** An expiry needs no reply, so it is a notification. */
  expired(header: Header): void {
    this.#notify(header.id, FLOW_ENDED, toEndedParams(toExpiredTurn(header)));
    this.happened({ header, questions: [] });
  }

  /** Sends a turn that no request caused; a cancelled session sends only its end. */
  moved(turn: Turn): void {
    if (turn.header.state === 'cancelled') this.#notify(turn.header.id, FLOW_ENDED, toEndedParams(turn));
    this.happened(turn);
  }

  warn({ header: { id: sessionId, expiresAt }, remainingMs }: Extract<SessionEvent, { kind: 'warning' }>): void {
    this.#notify(sessionId, FLOW_TIMEOUT_WARNING, { sessionId, expiresAt, remainingMs });
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
    const [question] = turn.questions;
    const sent = question && this.#sent.add(sessionId, client, question);
    this.#put(sessionId, question);
    const again = lookAgain(turn.header, { now: this.#clock.now(), isTold: true });
    this.#ask(watcher, { method, params: { ...params, ...again } }, sent).then(
      () => {
        if (method === FLOW_COMPLETE) this.#onHeard(sessionId);
      },
      (error: unknown) => this.#log.debug({ session: toShortId(sessionId), error }, 'flow.untold'),
    );
  }

  /** Requests may overtake each other, so an answer without a promptId is a consent only once the client has acknowledged the question. */
  async #ask(watcher: Watcher, ask: Ask, sent: SentEntry<Sent> | undefined): Promise<void> {
    const onReceived = (arrival: number): void => void (sent && (sent.acknowledgedAt ??= arrival));
    await watcher.ask!({ ...ask, onReceived });
    onReceived(nextArrival()); // a client in this process
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
  isConsent: boolean;
  /** When the question times out. */
  until?: number | undefined;
  /** The client knows that it is closed. */
  isWithdrawn?: true | undefined;
}

/** The questions that were sent to each client, by session. */
class SentPrompts {
  readonly #sessions = new BoundedMap<string, BoundedMap<Recipient, PromptTrail<Sent>>>(MAX_SESSIONS);

  add(sessionId: string, to: Recipient, { promptId, key, pin, until, consent }: Question): SentEntry<Sent> {
    const clients = this.#sessions.getOrCreate(sessionId, () => new BoundedMap(MAX_CLIENTS));
    return clients
      .getOrCreate(to, () => new PromptTrail())
      .send({ promptId, key, pin, until, isConsent: consent !== undefined });
  }

  /** The clients that show a closed question, once per question. `except` knows it already. */
  withdrawn(
    sessionId: string,
    isOpen: (promptId: string, to: Recipient) => boolean,
    except: Recipient | undefined,
  ): [Recipient, Sent][] {
    const all = this.#sessions.get(sessionId)?.entries() ?? [];
    const theirs = all.flatMap(([to, { last }]): [Recipient, Sent][] => {
      return last && !last.isWithdrawn && !isOpen(last.promptId, to) ? [[to, last]] : [];
    });
    for (const [, sent] of theirs) sent.isWithdrawn = true;
    return theirs.filter(([to]) => to !== except);
  }

  get(sessionId: string, to: Recipient): PromptTrail<Sent> | undefined {
    return this.#sessions.get(sessionId)?.get(to);
  }

  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}
