// Cancels requests that take too long: the client gets an error, and the server a cancellation. Time spent asking the user does
// not count; by default, progress restarts the time.
import type { Step } from '../../../kernel/step.ts';
import { GET_PROMPT, GET_TASK_RESULT } from '../../../kernel/methods.ts';
import { DeadlineList, systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { StepDeadline } from '../../chain/deadline.ts';
import { withDefaults } from '../../chain/step-options.ts';
import { toNameRule, toToolRules } from '../../matching/name-rule.ts';

interface TimeoutOptions {
  ms?: number | undefined;
  /** Whether progress restarts the time. */
  extend?: boolean | undefined;
  /** Globs: the tools and prompts it applies to. Default: every request. */
  only?: string[] | undefined;
  clock?: Clock | undefined;
}

const DEFAULTS = { ms: 60_000, extend: true, only: ['*'], clock: systemClock };

/**
 * Gives up a call after a time, and tells the server to stop.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { timeout } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [timeout({ ms: 30_000, only: ['search*'] })] });
 * ```
 */
export function timeout(options: number | TimeoutOptions = {}): Step {
  const given: TimeoutOptions = typeof options === 'number' ? { ms: options } : options;
  const { ms, extend, only, clock } = withDefaults('timeout', given, DEFAULTS);
  const isAll = only.includes('*');
  const isMeant = toNameRule(only);
  const limit = { ms, extend, alarms: new DeadlineList(clock) };
  return {
    name: 'timeout',
    seesStarts: true,
    toolRules: toToolRules(only, { isForAll: true }),
    handle: function timeout(exchange, next, _lookUp, originOf) {
      const { method, params } = exchange;
      if (method === GET_TASK_RESULT) return next(); // it waits for a task by design
      const name = typeof params.name === 'string' ? params.name : '';
      if (!isAll && !isMeant(name, originOf?.(method === GET_PROMPT ? 'prompts' : 'tools', name))) return next();
      const deadline = new StepDeadline(limit, exchange);
      exchange.cancellation = deadline;
      exchange.intercept(deadline);
      return next();
    },
  } satisfies Step;
}
