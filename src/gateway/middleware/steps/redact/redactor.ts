// Replaces texts that match a pattern, and values of secret keys, at any depth. A value without secrets stays the same object.
import { isObject } from '../../../../protocol/message.ts';
import { GatewayError, ProtocolError } from '../../../../shared/errors.ts';
import { toMatcher } from '../filter/glob.ts';
import { badOption } from '../../chain/step-options.ts';

export class Redactor {
  readonly #patterns: RegExp[];
  readonly #isSecret: ((key: string) => boolean) | undefined;
  readonly #replacement: string;

  constructor(patterns: (string | RegExp)[], keys: string[], replacement: string) {
    this.#patterns = patterns.map(toPattern);
    this.#isSecret = keys.length > 0 ? toMatcher(keys.map((key) => key.toLowerCase())) : undefined;
    this.#replacement = replacement;
  }

  readonly value = <T>(value: T): T => this.#any(value) as T;

  /** Errors quote servers, including their stderr. */
  readonly error = (thrown: unknown): unknown => {
    if (thrown instanceof ProtocolError) {
      return new ProtocolError(thrown.code, this.#text(thrown.message), this.value(thrown.data));
    }
    if (!(thrown instanceof GatewayError)) return thrown;
    const { origin, ...details } = thrown.details;
    const redacted = { ...this.value(details), ...(origin !== undefined && { origin: this.error(origin) }) };
    return new GatewayError(thrown.code, redacted, { cause: thrown.cause });
  };

  #any(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#any(item));
      return items.every((item, index) => item === value[index]) ? value : items;
    }
    return isObject(value) ? this.#object(value) : value;
  }

  #object(value: object): object {
    let changed = false;
    const entries = Object.entries(value).map(([key, held]: [string, unknown]) => {
      const isSecret = held !== null && held !== undefined && this.#isSecret?.(key.toLowerCase());
      const kept = isSecret ? this.#replacement : this.#any(held);
      changed ||= kept !== held;
      return [key, kept] as const;
    });
    return changed ? Object.fromEntries(entries) : value;
  }

  #text(text: string): string {
    let kept = this.#isSecret ? this.#json(text) : text;
    for (const pattern of this.#patterns) kept = kept.replace(pattern, () => this.#replacement);
    return kept;
  }

  /** Many tools repeat their result as JSON in a text. */
  #json(text: string): string {
    if (!/^\s*[[{]/.test(text)) return text;
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      return text; // it only looked like JSON
    }
    const kept = this.#any(parsed);
    return kept === parsed ? text : JSON.stringify(kept, undefined, text.includes('\n') ? 2 : undefined);
  }
}

function toPattern(pattern: string | RegExp): RegExp {
  const [source, flags] = typeof pattern === 'string' ? [pattern, ''] : [pattern.source, pattern.flags];
  try {
    return new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
  } catch (thrown) {
    throw badOption('redact.patterns', String(thrown));
  }
}
