// Answers for everybody but the user of the client: people asked by `ask.person`, and senders of events. They answer as soon as the session
// waits for them.
import type { FlowSessions } from '../../flow/flow-sessions.ts';
import type { Header } from '../../flow/journal.ts';
import type { Question } from '../../flow/question/question.ts';
import { isRequired } from '../../flow/question/answer-schema.ts';
import { isIdle, isEnded } from '../../flow/header.ts';
import { NoAnswer } from '../../flow/testing/play-flow.ts';
import type { Turn } from '../../flow/session/turn/turn.ts';
import type { FlowStore } from '../../flow/store/store.ts';
import type { TestUser } from './test-user.ts';

export class OtherParties {
  /** Rejects if one of them has no answer or a refused one, as the call would wait without end. */
  readonly failed: Promise<never>;
  readonly #sessions: FlowSessions;
  readonly #store: FlowStore;
  readonly #person: TestUser;
  readonly #answers: Record<string, unknown>;
  /** Answered prompts and delivered events. */
  readonly #done = new Set<string>();
  #fail!: (error: Error) => void;

  constructor(
    { sessions, store }: { sessions: FlowSessions; store: FlowStore },
    person: TestUser,
    answers: Record<string, unknown>,
  ) {
    this.#sessions = sessions;
    this.#store = store;
    this.#person = person;
    this.#answers = answers;
    this.failed = new Promise((_, reject) => (this.#fail = reject));
    this.failed.catch(() => {}); // it may fail after the call has ended
  }

  /** Call it after a session was written. */
  async look(id: string): Promise<void> {
    try {
      const header = (await this.#store.load(id))?.header;
      if (!header || isEnded(header)) return;
      for (const question of header.current as Question[]) await this.#answer(header, question);
      for (const { kind, key } of header.waits ?? []) {
        if (kind !== 'event') continue;
        this.#person.use(key);
        await this.#deliver(header, key);
      }
      this.#refuseEndless(header);
    } catch (thrown) {
      this.#fail(this.#person.fail((thrown as Error).message));
    }
  }

  async #answer({ id: sessionId }: Header, question: Question): Promise<void> {
    const { promptId, key, person, prompt } = question;
    if (!person || person.orCaller || this.#done.has(promptId)) return;
    this.#done.add(promptId);
    const { principal } = person;
    const value = this.#person.say(key, `for ${principal}: ${prompt.message}`, { isNeeded: isRequired(question) });
    if (value instanceof NoAnswer && value.no === 'timeout') return;
    const answer = value instanceof NoAnswer ? { promptId, no: value.no } : { promptId, value };
    const { verdicts = {} } = await this.#sessions
      .answer({ principal, sessionId, answers: [answer] })
      .catch((thrown: unknown) => this.#unlessWithdrawn(sessionId, promptId, thrown));
    const verdict = verdicts[promptId];
    if (verdict?.valid === false) throw new Error(`The answer to ${key} was refused: ${verdict.error}`);
  }

  /** Somebody else was faster: the question has lost a race. */
  async #unlessWithdrawn(sessionId: string, promptId: string, thrown: unknown): Promise<Pick<Turn, 'verdicts'>> {
    const header = (await this.#store.load(sessionId))?.header;
    const isOpen = (header?.current as Question[] | undefined)?.some((one) => one.promptId === promptId);
    if (isOpen) throw thrown;
    return {};
  }

  async #deliver({ id: sessionId }: Header, event: string): Promise<void> {
    const value = this.#answers[event];
    if (!Object.hasOwn(this.#answers, event) || value instanceof NoAnswer || this.#done.has(`event ${event}`)) return;
    this.#done.add(`event ${event}`);
    await this.#sessions.deliver({ sessionId, event, value });
  }

  /** Fails if the session can only wait for an event that the test does not have. */
  #refuseEndless(header: Header): void {
    const { waits = [] } = header;
    const isForEver = waits.every(({ kind, until, key }) => kind === 'event' && until === undefined && !this.#has(key));
    if (!isIdle(header) || waits.length === 0 || !isForEver) return;
    throw new Error(`The flow waits for the event ${waits[0]!.key}, which is not among the answers`);
  }

  #has(event: string): boolean {
    return Object.hasOwn(this.#answers, event);
  }
}
