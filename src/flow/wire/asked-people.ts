// Asks people (`ask.person`) at their clients that are connected to this process: by `interaction.prompt` if the client speaks MCP Flow, or
// by a form if it shows forms. They are asked when `notify` is called, and when they connect while the question is open.
// 1. A client shows one form at a time. 2. A form is withdrawn when its question is no longer open for that person.
// 3. An answer that may not come from a person is ignored, and the question stays open for the page and other clients.
import { INSTANT_MS, HumanCheck } from '../../people/human-check.ts';
import type { ClientView, Ask } from '../../kernel/exchange.ts';
import { flowOf } from '../../kernel/interaction.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Watcher } from '../../kernel/target.ts';
import { isAnonymous } from '../../kernel/base/anonymous.ts';
import { ticksOf } from '../../kernel/base/clock.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { answerWithRetry } from '../channel/apply-reply.ts';
import { needsPage, toGivenAnswers, toFormAsk } from '../channel/client-form.ts';
import { peopleOf, questionsFor, wasNotified, isEnded } from '../header.ts';
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';
import type { SessionEvent } from '../session/turn/session-event.ts';
import { toShortId } from '../session-id.ts';
import type { Sessions } from '../session/sessions.ts';
import type { GivenAnswer } from '../session/context/requests.ts';
import type { PromptDelivery } from './prompt-delivery.ts';

/** Sessions that wait for people. Beyond this the oldest are left to reminders. */
const MAX_SESSIONS = 10_000;
/** How often the store is searched for questions of other processes. */
const LOOK_MS = 60_000;

export class AskedPeople {
  readonly #sessions: Sessions;
  readonly #delivery: PromptDelivery;
  readonly #forms = new Map<ClientView, PersonForms>();
  readonly #waiting = new BoundedMap<string, Header>(MAX_SESSIONS);
  #lookedAt = -Infinity;

  constructor(sessions: Sessions, delivery: PromptDelivery) {
    this.#sessions = sessions;
    this.#delivery = delivery;
  }

  attend(watcher: Watcher): () => void {
    const { client } = watcher;
    if (!watcher.ask || isAnonymous(client.principal)) return () => {};
    if (showsForms(client)) this.#forms.set(client, new PersonForms(this.#sessions, watcher));
    void this.#greet(client);
    return () => {
      this.#forms.get(client)?.close();
      this.#forms.delete(client);
    };
  }

  hear(event: SessionEvent): void {
    const header = event.kind === 'turn' ? event.turn.header : event.header;
    if (event.kind === 'person') this.#told(header);
    else if (event.kind === 'turn' || event.kind === 'expired' || event.kind === 'cancelled') this.#moved(header);
    if (event.kind === 'turn') this.#askOther(header);
  }

  /** Asks clients that connected before the question was asked. */
  #told(header: Header): void {
    this.#moved(header);
    for (const client of this.#delivery.clientsOf(peopleOf(header))) this.#ask(client, header);
  }

  /** Shows the next question of the same session after a form was answered. */
  #askOther(header: Header): void {
    for (const [client, forms] of this.#forms) {
      const [question] = questionsFor(header, client.principal);
      if (question && wasNotified(question) && !this.#delivery.speaksFlow(client) && !needsPage(question)) {
        forms.put(header, question);
      }
    }
  }

  #moved(header: Header): void {
    if (isEnded(header) || peopleOf(header).length === 0) this.#waiting.delete(header.id);
    else this.#waiting.set(header.id, header);
    for (const forms of this.#forms.values()) forms.moved(header);
  }

  async #greet(client: ClientView): Promise<void> {
    const { log } = this.#sessions.context;
    await this.#look().catch((error: unknown) => log.warn({ error }, 'flow.store-failed'));
    for (const [, header] of this.#waiting.entries()) this.#ask(client, header);
  }

  #ask(client: ClientView, header: Header): void {
    const [question] = questionsFor(header, client.principal);
    if (!question) return;
    const forms = this.#delivery.speaksFlow(client) ? undefined : this.#forms.get(client);
    if (!forms) this.#delivery.prompt(client, header, question);
    else if (!needsPage(question)) forms.put(header, question);
  }

  /** Finds questions of other processes. */
  async #look(): Promise<void> {
    const { store, clock } = this.#sessions.context;
    if (!store.durable || !store.browse || clock.now() - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = clock.now();
    for await (const page of store.browse()) {
      for (const { header } of page) {
        if (!isEnded(header) && peopleOf(header).length > 0 && this.#waiting.get(header.id) === undefined) {
          this.#waiting.set(header.id, header);
        }
      }
    }
  }
}

/** An empty `elicitation` capability means forms. */
function showsForms({ era, capabilities }: ClientView): boolean {
  const { elicitation } = capabilities;
  if (!era.asksByRequest || !isObject(elicitation) || flowOf(capabilities)) return false;
  return Object.keys(elicitation).length === 0 || 'form' in elicitation;
}

interface Shown {
  sessionId: string;
  promptId: string;
  withdrawal: AbortController;
}

/** Queued questions of one client. The rest is left to reminders and the page. */
const MAX_QUEUED = 100;
/** How often the client asks again after an invalid answer. */
const MAX_TRIES = 3;

/** The forms that one client shows its user. Each is withdrawn when its question is answered elsewhere, handed over, or withdrawn. */
class PersonForms {
  readonly #sessions: Sessions;
  readonly #watcher: Watcher;
  readonly #ownWord: HumanCheck;
  /** The first one is shown. */
  readonly #queue: Shown[] = [];

  constructor(sessions: Sessions, watcher: Watcher) {
    this.#sessions = sessions;
    this.#watcher = watcher;
    this.#ownWord = new HumanCheck(sessions.context.clock);
  }

  put({ id: sessionId }: Header, { promptId }: Question): void {
    const isKnown = this.#queue.some((one) => one.sessionId === sessionId && one.promptId === promptId);
    if (isKnown || this.#queue.length >= MAX_QUEUED) return;
    this.#queue.push({ sessionId, promptId, withdrawal: new AbortController() });
    if (this.#queue.length === 1) void this.#work();
  }

  moved(header: Header): void {
    const theirs = new Set(questionsFor(header, this.#principal).map(({ promptId }) => promptId));
    for (const { sessionId, promptId, withdrawal } of this.#queue) {
      if (sessionId === header.id && !theirs.has(promptId)) withdrawal.abort();
    }
  }

  close(): void {
    for (const { withdrawal } of this.#queue) withdrawal.abort();
  }

  get #principal(): string {
    return this.#watcher.client.principal;
  }

  async #work(): Promise<void> {
    const { log } = this.#sessions.context;
    for (let shown = this.#queue[0]; shown; shown = this.#queue[0]) {
      const { sessionId } = shown;
      await this.#show(shown).catch((error: unknown) =>
        log.debug({ session: toShortId(sessionId), error }, 'flow.untold'),
      );
      this.#queue.shift();
    }
  }

  async #show(shown: Shown): Promise<void> {
    let given: GivenAnswer[] = [];
    for (let tries = 0; tries < MAX_TRIES && !shown.withdrawal.signal.aborted; tries++) {
      const { header, questions } = await this.#sessions.getState({ ...shown, principal: this.#principal });
      const question = questions.find(({ promptId }) => promptId === shown.promptId);
      if (!question) return;
      const answer = await this.#put(toForm(header, question, given), shown.withdrawal.signal);
      if (!answer) return;
      given = toGivenAnswers([question], answer);
      const next = await this.#answer(shown, given);
      if (!next) return;
      shown.promptId = next.promptId;
    }
  }

  /** Undefined if there is no answer from a person; the question stays open. */
  async #put(ask: Ask, signal: AbortSignal): Promise<JsonObject | undefined> {
    const { client } = this.#watcher;
    if (!this.#ownWord.isTrusted(client)) return undefined;
    const start = ticksOf(this.#sessions.context.clock);
    const answer = await this.#ownWord.take(ask, client, () => this.#watcher.ask!(ask, signal));
    // Closing a form is not an answer, and an instant decline does not come from a person.
    const isInstant = ticksOf(this.#sessions.context.clock) - start < INSTANT_MS;
    if (answer?.action === 'accept') return answer;
    return answer?.action === 'decline' && !isInstant ? answer : undefined;
  }

  /** The question to ask again, if the answer was rejected. */
  async #answer({ sessionId }: Shown, answers: GivenAnswer[]): Promise<Question | undefined> {
    const request = { principal: this.#principal, sessionId, answers, src: 'human' as const, via: 'elicit' as const };
    try {
      const { accepted, questions } = await answerWithRetry(this.#sessions, request);
      return accepted === false ? questions.find(({ complaint }) => complaint) : undefined;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('FLOW_')) throw thrown;
      return undefined; // the question is closed by now
    }
  }
}

/** The user has not called the tool, so the form explains what it is about. */
function toForm(header: Header, question: Question, given: readonly GivenAnswer[]): Ask {
  const { notes: _, ...asked } = question; // notes are for the caller
  const told = `The tool ${header.tool}, which another person called, asks you as ${question.person!.principal}.`;
  const { revisable: _revisable, ...ask } = toFormAsk({ turn: { header, questions: [asked] }, told, given });
  return ask;
}
