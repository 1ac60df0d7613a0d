// Asks people (`ask.person`) at their clients that are connected to this process: by `interaction.prompt` if the client speaks MCP Flow, or
// by a form if it shows forms. They are asked when `notify` is called, and when they connect while the question is open.
// 1. A client shows one form at a time. 2. A form is withdrawn when its question is no longer open for that person.
// 3. An answer that may not come from a person is ignored, and the question stays open for the page and other clients.
import type { ClientView } from '../../protocol/exchange.ts';
import { flowOf } from '../../protocol/interaction.ts';
import { isObject } from '../../protocol/message.ts';
import type { Watcher } from '../../protocol/target.ts';
import { isAnonymous } from '../../shared/anonymous.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';
import { needsPage } from '../channel/form-round.ts';
import type { Header } from '../journal.ts';
import { peopleOf, questionsFor, wasNotified, isEnded } from '../header.ts';
import type { SessionEvent } from '../session/session-event.ts';
import type { Sessions } from '../session/sessions.ts';
import { PersonForms } from './person-forms.ts';
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
function showsForms({ dialect, capabilities }: ClientView): boolean {
  const { elicitation } = capabilities;
  if (dialect !== 'handshake' || !isObject(elicitation) || flowOf(capabilities)) return false;
  return Object.keys(elicitation).length === 0 || 'form' in elicitation;
}
