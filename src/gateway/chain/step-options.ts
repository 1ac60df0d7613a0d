// Reads the options of built-in steps: fills in defaults, and rejects misspelled or mistyped ones by name. A filter must not let
// everything pass because of a typo like "dney".
import { isObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';

/** `defaults` has a key for every option; an option with an undefined default is checked by the step itself. */
export function withDefaults<T extends object, D extends { [K in keyof T]-?: unknown }>(
  step: string,
  given: T,
  defaults: D,
): Chosen<T, D> {
  if (!isObject(given)) throw badOption(step, 'must be an object with options');
  const known = Object.keys(defaults);
  const chosen: Record<string, unknown> = { ...defaults };
  for (const [key, written] of Object.entries(given)) {
    if (!Object.hasOwn(defaults, key))
      throw badOption(`${step}.${key}`, `is not an option; there are ${known.join(', ')}`);
    if (written === undefined) continue;
    const fallback = defaults[key as keyof D];
    const value = fromText(written, fallback);
    const reason = problemOf(value, fallback);
    if (reason) throw badOption(`${step}.${key}`, reason);
    chosen[key] = value;
  }
  return chosen as Chosen<T, D>;
}

/** Options with a default are always present. */
type Chosen<T, D> = {
  [K in keyof D]: undefined extends D[K] ? T[K & keyof T] : Exclude<T[K & keyof T], undefined>;
};

export function badOption(option: string, reason: string): GatewayError {
  return new GatewayError('BAD_OPTION', { option, reason });
}

export function checkOptionChoice(option: string, value: string, choices: readonly string[]): void {
  if (!choices.includes(value)) throw badOption(option, `must be ${choices.join(' or ')}`);
}

/** In a configuration file, a number or flag from a variable is text. */
function fromText(value: unknown, fallback: unknown): unknown {
  if (typeof fallback === 'number' && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  if (typeof fallback === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** Every numeric option is a count, size or duration. */
function problemOf(value: unknown, fallback: unknown): string | undefined {
  if (typeof fallback === 'number') {
    return typeof value === 'number' && value >= 0 ? undefined : 'must be a number of at least 0';
  }
  if (Array.isArray(fallback)) {
    return Array.isArray(value) ? undefined : 'must be a list';
  }
  if (fallback === undefined || typeof value === typeof fallback) return undefined;
  return `must be a ${typeof fallback}`;
}
