// Whoever sits before the client under test: knows the answers by the names of the questions, and fills in whatever is shown. Counts
// what is asked; asked for what it does not know, or for the same twice, it says so and does no more.
import { NoAnswer } from '../../flow/testing/play-flow.ts';
import { isFileAnswer } from '../../flow/question/check-file.ts';
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';

/** By which way a question came. */
export type Way = 'prompt' | 'form' | 'page' | 'model';

export type FormResponse = { action: 'accept'; content: JsonObject } | { action: 'decline' | 'cancel' };

export class TestUser {
  /** Names of questions, in the order in which they were shown. */
  readonly asked: string[] = [];
  readonly ways = new Set<Way>();
  rounds = 0;
  /** What went wrong, first of all. */
  problem: Error | undefined;
  readonly #answers: ReadonlyMap<string, unknown>;

  constructor(answers: Record<string, unknown>) {
    this.#answers = new Map(
      Object.entries(answers).flatMap(([name, value]) => [[name, value], ...partsOf(name, value)]),
    );
  }

  /** Counts one more round. */
  see(way: Way): void {
    this.ways.add(way);
    this.rounds++;
  }

  /** A form, by its schema; `message` says what was wrong with the last answer. */
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
    const value = this.#answers.get(name) ?? this.#ticked(name);
    if (value === undefined && isNeeded) throw this.fail(`There is no answer to ${name}: ${message}`);
    return isObject(field) ? asShown(value, field) : value;
  }

  fail(reason: string): Error {
    this.problem ??= new Error(reason);
    return this.problem;
  }

  /** `extras: bag` is one box of those that stand for `extras`. */
  #ticked(name: string): boolean | undefined {
    const [, list, option] = /^(.*?): (.*)$/s.exec(name) ?? [];
    const chosen = list === undefined ? undefined : this.#answers.get(list);
    return Array.isArray(chosen) ? chosen.map(String).includes(option!) : undefined;
  }
}

/** The fields of a form stand beside each other, and with those of other forms under longer names. */
function partsOf(name: string, value: unknown): [string, unknown][] {
  if (!isObject(value) || isFileAnswer(value)) return [];
  return Object.entries(value).flatMap(([part, own]) => [
    [part, own],
    [`${name}.${part}`, own],
  ]);
}

/** What is chosen from texts is one of them. */
function asShown(value: unknown, { type }: JsonObject): unknown {
  if (Array.isArray(value)) return value.map(String);
  return type === 'string' && typeof value === 'number' ? String(value) : value;
}
