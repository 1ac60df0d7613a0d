// Removes secrets from everything sent to clients: results, errors, progress, log messages, notifications and questions. Patterns
// apply to every text; keys apply to everything except lists, whose schemas contain such keys legitimately.
import type { Ask, Progress } from '../../../../protocol/exchange.ts';
import type { Step, StepExchange } from '../../../../protocol/step.ts';
import { LIST_METHODS } from '../../../../protocol/methods.ts';
import { Redactor } from './redactor.ts';
import { withDefaults } from '../../chain/step-options.ts';
import { SECRET_PATTERNS } from './well-known-secrets.ts';

export interface RedactOptions {
  /** Regular expressions, or their source. Default: the tokens and keys of well-known services. */
  patterns?: (string | RegExp)[] | undefined;
  /** Globs, case-insensitive: the values of these keys are removed, also in JSON sent as text. */
  keys?: string[] | undefined;
  /** The text that replaces a secret. */
  replacement?: string | undefined;
}

const DEFAULTS = { patterns: SECRET_PATTERNS, keys: [], replacement: '[redacted]' };

export function redact(options: RedactOptions = {}): Step {
  const { patterns, keys, replacement } = withDefaults('redact', options, DEFAULTS);
  const inLists = new Redactor(patterns, [], replacement);
  const redactor = new Redactor(patterns, keys, replacement);
  const lists = new Set<string>(LIST_METHODS);
  return {
    name: 'redact',
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
