// Retries requests that are safe to repeat when a server is unavailable: lists, reads, prompts, completion, and tools annotated
// as read-only or idempotent. The pauses are random and grow; the number of attempts is limited.
import type { LookUp, Step, StepExchange } from '../../../kernel/step.ts';
import { CALL_TOOL, LIST_TOOLS, methodsWhere } from '../../../kernel/methods.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { atOnce } from '../../../kernel/base/stray-promises.ts';
import { pause } from '../../../kernel/base/timing.ts';
import { ToolAnnotations } from '../../chain/tool-annotations.ts';
import { withDefaults } from '../../chain/step-options.ts';
import { isUpstreamTrouble } from '../../chain/upstream-trouble.ts';

export interface RetryOptions {
  /** The total number of attempts. */
  attempts?: number | undefined;
  /** The longest first pause; it doubles with each attempt. */
  delayMs?: number | undefined;
  /** The longest pause; there is no retry if the server asks for a longer one. */
  maxDelayMs?: number | undefined;
  clock?: Clock | undefined;
  /** Returns a number from 0 to 1. */
  random?: (() => number) | undefined;
}

const DEFAULTS = { attempts: 3, delayMs: 500, maxDelayMs: 10_000, clock: systemClock, random: Math.random };
const SAFE = methodsWhere(({ safe }) => safe);

/**
 * Repeats what is safe to repeat when a server is in trouble.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { circuitBreaker, retry, timeout } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [retry({ attempts: 3 }), circuitBreaker(), timeout()] });
 * ```
 */
export function retry(options: RetryOptions = {}): Step {
  const { attempts, delayMs, maxDelayMs, clock, random } = withDefaults('retry', options, DEFAULTS);
  const tools = new ToolAnnotations();
  return {
    name: 'retry',
    seesStarts: true,
    methods: [...SAFE, CALL_TOOL],
    repeats: true,
    onChange: (change) => tools.hear(change),
    handle: async function retry(exchange, next, lookUp) {
      const isAsked = watchQuestions(exchange);
      for (let attempt = 1; ; attempt++) {
        try {
          const outcome = await next();
          if (exchange.method === LIST_TOOLS) tools.learn(exchange, outcome.result);
          return outcome;
        } catch (thrown) {
          if (attempt >= attempts || isAsked() || exchange.signal.aborted || !isUpstreamTrouble(thrown)) throw thrown;
          const wanted = thrown.retryAfterMs ?? 0;
          if (wanted > maxDelayMs || !(await mayRepeat(tools, exchange, lookUp))) throw thrown;
          const longest = Math.min(maxDelayMs, delayMs * 2 ** (attempt - 1));
          await pause(clock, Math.max(wanted, atOnce('random of the step retry', random()) * longest), exchange.signal);
          if (exchange.signal.aborted) throw thrown;
        }
      }
    },
  } satisfies Step;
}

/** A user must not have to answer the same question twice. */
function watchQuestions(exchange: StepExchange): () => boolean {
  let asked = false;
  if (exchange.method === CALL_TOOL) exchange.intercept({ ask: (ask, next) => ((asked = true), next(ask)) });
  return () => asked;
}

async function mayRepeat(tools: ToolAnnotations, exchange: StepExchange, lookUp: LookUp): Promise<boolean> {
  if (exchange.method !== CALL_TOOL) return true;
  const { readOnlyHint, idempotentHint } = await tools.annotations(String(exchange.params.name), exchange, lookUp);
  return readOnlyHint === true || idempotentHint === true;
}
