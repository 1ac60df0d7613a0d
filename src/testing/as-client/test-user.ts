// The user of the client under test. Knows the answers by the keys of the questions, fills in forms, and counts rounds. Fails at a question
// without an answer, or one that is asked twice.
import { NoAnswer } from '../../flow/testing/play-flow.ts';
import { isFileAnswer } from '../../flow/question/check-answer.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';

/** The way in which a question came. */
export type Way = 'prompt' | 'form' | 'page' | 'model';

export type FormResponse = { action: 'accept'; content: JsonObject } | { action: 'decline' | 'cancel' };

export class TestUser {
  /** Names of questions in the order in which they were asked. */
  readonly asked: string[] = [];
  readonly ways = new Set<Way>();
  rounds = 0;
  /** The first failure. */
  problem: Error | undefined;
  readonly #answers: ReadonlyMap<string, { value: unknown; key: string }>;
  /** Keys of answers that were asked for. */
  readonly #played = new Set<string>();

  constructor(answers: Record<string, unknown>) {
    this.#answers = new Map(
      Object.entries(answers).flatMap(([key, value]) =>
        [[key, value] as [string, unknown], ...partsOf(key, value)].map(([name, own]) => [name, { value: own, key }]),
      ),
    );
  }

  /** Something other than a question of this user has asked for the answer. */
  use(key: string): void {
    this.#played.add(key);
  }

  /** Keys of answers that nothing has asked for. */
  get leftOver(): string[] {
    return [...new Set([...this.#answers.values()].map(({ key }) => key))].filter((key) => !this.#played.has(key));
  }

  /** Counts a round. */
  see(way: Way): void {
    this.ways.add(way);
    this.rounds++;
  }

  /** Fills in a form by its schema; `message` says what was wrong with the last answer. */
  fill(schema: unknown, message: string): FormResponse {
    const { properties, required } = isObject(schema) ? schema : {};
    const needed = new Set<unknown>(Array.isArray(required) ? required : []);
    const content: JsonObject = {};
    for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
      const value = this.say(name, message, { isNeeded: needed.has(name), field });
      if (value instanceof NoAnswer) return { action: value.no === 'declined' ? 'decline' : 'cancel' };
      if (value !== undefined) content[name] = value;
    }
    return { action: 'accept', content };
  }

  say(
    name: string,
    message: string,
    { isNeeded = true, field }: { isNeeded?: boolean; field?: unknown } = {},
  ): unknown {
    if (this.asked.includes(name)) throw this.fail(`The answer to ${name} was refused: ${message}`);
    this.asked.push(name);
    const value = this.#take(name) ?? this.#ticked(name);
    if (value === undefined && isNeeded) throw this.fail(`There is no answer to ${name}: ${message}`);
    return isObject(field) ? asShown(value, field) : value;
  }

  fail(reason: string): Error {
    this.problem ??= new Error(reason);
    return this.problem;
  }

  #take(name: string): unknown {
    const found = this.#answers.get(name);
    if (found) this.#played.add(found.key);
    return found?.value;
  }

  /** `extras: bag` is one checkbox of the answer to `extras`. */
  #ticked(name: string): boolean | undefined {
    const [, list, option] = /^(.*?): (.*)$/s.exec(name) ?? [];
    const chosen = list === undefined ? undefined : this.#take(list);
    return Array.isArray(chosen) ? chosen.map(String).includes(option!) : undefined;
  }
}

/** Fields of a form appear under their own names, or with the name of the form in front if there are several forms. */
function partsOf(name: string, value: unknown): [string, unknown][] {
  if (!isObject(value) || isFileAnswer(value)) return [];
  return Object.entries(value).flatMap(([part, own]) => [
    [part, own],
    [`${name}.${part}`, own],
  ]);
}

/** Choices of a text field are texts. */
function asShown(value: unknown, { type }: JsonObject): unknown {
  if (Array.isArray(value)) return value.map(String);
  return type === 'string' && typeof value === 'number' ? String(value) : value;
}
