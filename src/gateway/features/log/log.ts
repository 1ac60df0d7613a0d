// Logs one line per exchange: method, server, duration and outcome. Argument values belong to the user and are left out by
// default.
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import type { Step, StepExchange } from '../../../kernel/step.ts';
import { nameIn } from '../../../kernel/named-thing.ts';
import { CALL_TOOL, methodsWhere } from '../../../kernel/methods.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { createLog } from '../../../kernel/base/log.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { resultIn } from '../../chain/outcome.ts';
import { checkOptionChoice, withDefaults } from '../../chain/step-options.ts';

export interface LogOptions {
  /** Where the lines go. Default: JSON lines on stderr. */
  log?: Log | undefined;
  /** The level of successful exchanges; failures are warnings. */
  level?: 'debug' | 'info' | undefined;
  /** Also logs argument values. */
  arguments?: boolean | undefined;
  /** Whether tool results with errors count as failures. */
  toolErrors?: boolean | undefined;
  clock?: Clock | undefined;
}

const LISTS: readonly string[] = methodsWhere(({ kind }) => kind === 'list');
const DEFAULTS = { log: undefined, level: 'info', arguments: false, toolErrors: true, clock: systemClock };

/**
 * One line per exchange: method, name, server, duration, outcome.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { log } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [log({ arguments: true })] });
 * ```
 */
export function log(options: LogOptions = {}): Step {
  const given = withDefaults('log', options, DEFAULTS);
  checkOptionChoice('log.level', given.level, ['debug', 'info']);
  const { level, toolErrors, clock, log: lines = createLog({ level }) } = given;
  return {
    name: 'log',
    seesStarts: true,
    handle: async function log(exchange, next) {
      if (isOwnLook(exchange)) return next();
      const start = clock.now();
      const about = (outcome: string) => ({
        exchange: exchange.id,
        method: exchange.method,
        name: nameOf(exchange),
        server: exchange.server,
        ms: clock.now() - start,
        outcome,
        client: `${exchange.client.info.name} ${exchange.client.info.version}`,
        ...(given.arguments && { arguments: exchange.params.arguments }),
      });
      try {
        const outcome = await next();
        const failed = toolErrors && exchange.method === CALL_TOOL && fieldOf(resultIn(outcome), 'isError') === true;
        if (failed) lines.warn(about('tool error'), 'exchange');
        else lines[level](about('ok'), 'exchange');
        return outcome;
      } catch (thrown) {
        lines.warn(about(codeOf(thrown)), 'exchange');
        throw thrown;
      }
    },
  } satisfies Step;
}

/** Whether the gateway itself lists this, for its status, console or checks: nobody has asked for a line about that. */
function isOwnLook({ method, client }: StepExchange): boolean {
  return client.connection === undefined && LISTS.includes(method);
}

/** The tool, prompt, resource or task of a request. */
function nameOf({ method, params }: StepExchange): unknown {
  return nameIn(method, params) ?? params.taskId;
}

function codeOf(thrown: unknown): string {
  return thrown instanceof GatewayError || thrown instanceof ProtocolError ? String(thrown.code) : 'INTERNAL';
}
