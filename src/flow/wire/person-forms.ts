// The forms that one client shows its user for questions of other people's sessions: one at a time, each withdrawn when its question is
// answered elsewhere, handed over, or withdrawn.
import { INSTANT_MS, HumanCheck } from '../../gateway/ask/human-check.ts';
import type { Ask } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Watcher } from '../../protocol/target.ts';
import { ticksOf } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import { answerWithRetry } from '../channel/answer-with-retry.ts';
import { toGivenAnswers, toFormAsk } from '../channel/form-round.ts';
import type { Header } from '../journal.ts';
import { toShortId } from '../session/session-id.ts';
import type { Question } from '../question/question.ts';
import { questionsFor } from '../header.ts';
import type { GivenAnswer } from '../session/verbs/requests.ts';
import type { Sessions } from '../session/sessions.ts';

interface Shown {
  sessionId: string;
  promptId: string;
  withdrawal: AbortController;
}

/** Queued questions of one client. The rest is left to reminders and the page. */
const MAX_QUEUED = 100;
/** How often the client asks again after an invalid answer. */
const MAX_TRIES = 3;

export class PersonForms {
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
