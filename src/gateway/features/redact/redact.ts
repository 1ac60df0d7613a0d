// Removes secrets from everything sent to clients: results, errors, progress, log messages, notifications and questions. Patterns
// apply to every text; keys apply to everything except lists, whose schemas contain such keys legitimately.
import type { Ask, Progress } from '../../../kernel/exchange.ts';
import type { Step, StepExchange } from '../../../kernel/step.ts';
import { LIST_METHODS } from '../../../kernel/methods.ts';
import { isObject } from '../../../kernel/message.ts';
import { mapMembers, parseExactly, writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { withDefaults, badOption } from '../../chain/step-options.ts';
import { toMatcher } from '../../matching/name-rule.ts';

export interface RedactOptions {
  /** Regular expressions, or their source. Default: the tokens and keys of well-known services. */
  patterns?: (string | RegExp)[] | undefined;
  /** Globs, case-insensitive: the values of these keys are removed, also in JSON sent as text. */
  keys?: string[] | undefined;
  /** The text that replaces a secret. */
  replacement?: string | undefined;
}

/** A match must start a word, because Parley's own sealed texts may contain any letters. */
export const SECRET_PATTERNS: string[] = [
  '(?<![\\w-])(?:AKIA|ASIA)[0-9A-Z]{16}\\b',
  '(?<![\\w-])(?:gh[pousr]_\\w{36,}|github_pat_\\w{22,}|glpat-[\\w-]{20,})',
  '(?<![\\w-])(?:sk-[\\w-]{20,}|xox[abeoprs]-[\\w-]{10,}|AIza[\\w-]{35})',
  '(?<![\\w-])eyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]+',
  '-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----',
];

/** Globs over argument names. The list errs on the side of too many: a person still sees that the argument exists. */
export const SECRET_KEYS: string[] = [
  '*password*',
  '*passphrase*',
  '*passwd*',
  '*secret*',
  '*token',
  '*credential*',
  '*api_key',
  '*api-key',
  '*apikey',
  '*private_key',
  '*private-key',
  '*privatekey',
  '*authorization',
  '*cookie*',
];

const DEFAULTS = { patterns: SECRET_PATTERNS, keys: [], replacement: '[redacted]' };

/**
 * Removes secrets from what servers answer.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { redact } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [redact({ keys: ['password', '*_token'] })] });
 * ```
 */
export function redact(options: RedactOptions = {}): Step {
  const { patterns, keys, replacement } = withDefaults('redact', options, DEFAULTS);
  const inLists = new Redactor(patterns, [], replacement);
  const redactor = new Redactor(patterns, keys, replacement);
  const lists = new Set<string>(LIST_METHODS);
  return {
    name: 'redact',
    seesStarts: true,
    handle: async function redact(exchange, next) {
      interceptAll(exchange, redactor);
      const { value, error } = lists.has(exchange.method) ? inLists : redactor;
      try {
        const outcome = await next();
        outcome.result = value(outcome.result);
        return outcome;
      } catch (thrown) {
        throw error(thrown);
      }
    },
    onAsk: (ask, next) => next(redactedAsk(ask, redactor)),
    onChange(change) {
      return change.kind === 'log' || change.kind === 'task' ? redactor.value(change) : change;
    },
  } satisfies Step;
}

function interceptAll(exchange: StepExchange, redactor: Redactor): void {
  const { value } = redactor;
  exchange.intercept({
    progress: (progress: Progress, next) => next(value(progress)),
    log: (entry, next) => next(value(entry)),
    notify: ({ method, params }, next) => next({ method, params: value(params) }),
    ask: (ask: Ask, next) => next(redactedAsk(ask, redactor)),
  });
}

function redactedAsk(ask: Ask, { value }: Redactor): Ask {
  return ask.params ? { ...ask, params: value(ask.params) } : ask;
}

/** Replaces texts that match a pattern, and values of secret keys, at any depth. A value without secrets stays the same object. */
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
    if (Array.isArray(value)) return mapMembers(value, (item) => this.#any(item));
    return isObject(value) ? this.#object(value) : value;
  }

  #object(value: object): object {
    return mapMembers(value, (held, key) => {
      const isSecret = held !== null && held !== undefined && this.#isSecret?.(key.toLowerCase());
      return isSecret ? this.#replacement : this.#any(held);
    });
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
      parsed = parseExactly(text);
    } catch {
      return text; // it only looked like JSON
    }
    const kept = this.#any(parsed);
    return kept === parsed ? text : writeExactly(kept, text.includes('\n') ? 2 : undefined);
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
