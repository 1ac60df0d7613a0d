// Logs one line for each call on stderr: server, tool, duration and outcome, but no arguments and no results. For `--log-calls`.
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { fieldOf } from '../../kernel/raw/raw-object.ts';
import type { OriginOf, Step, StepExchange } from '../../kernel/step.ts';
import { CALL_METHODS, ELICIT_INPUT, rowOf } from '../../kernel/methods.ts';
import { resultIn } from '../../gateway/chain/outcome.ts';
import type { Log } from '../../kernel/base/log.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { createCliLog } from '../terminal/cli-log.ts';

interface LoggedCall {
  readonly method: string;
  readonly params: { readonly name?: unknown; readonly uri?: unknown; readonly toolName?: unknown };
  readonly server?: string | undefined;
}

interface CallLogOptions<T> {
  resultOf: (value: T) => ResultObject | undefined;
  /** Used if the exchange names no server, because it never reached one. */
  serverOf: () => string | undefined;
}

/** Readable lines on a terminal, JSON elsewhere. */
export class CallLog {
  readonly #log: Log;

  constructor(log: Log = createCliLog('info')) {
    this.#log = log;
  }

  /** The outermost step, so it sees what the client gets. */
  get step(): Step {
    return {
      name: 'log-calls',
      seesStarts: true,
      methods: [...CALL_METHODS],
      handle: async (exchange, next, _lookUp, originOf) => {
        const serverOf = () => ownerOf(exchange, originOf);
        const tell = this.#lineOf(exchange, serverOf);
        // A call that waits for a person may take days. The gateway answers roots and sampling itself, without a person.
        exchange.intercept({
          asked({ method }) {
            if (method === ELICIT_INPUT) tell('waits for an answer');
          },
        });
        return this.record(exchange, next, { resultOf: (outcome) => resultIn(outcome), serverOf });
      },
    };
  }

  async record<T>(
    exchange: LoggedCall,
    work: () => T | Promise<T>,
    { resultOf, serverOf }: CallLogOptions<T>,
  ): Promise<T> {
    if (!CALL_METHODS.has(exchange.method)) return work();
    const tell = this.#lineOf(exchange, serverOf);
    try {
      const value = await work();
      const result = resultOf(value);
      tell(result && fieldOf(result, 'isError') === true ? 'tool error' : 'ok');
      return value;
    } catch (thrown) {
      tell(outcomeOf(thrown));
      throw thrown;
    }
  }

  #lineOf(exchange: LoggedCall, serverOf: CallLogOptions<never>['serverOf']): (outcome: string) => void {
    const { content, named } = rowOf(exchange.method)!;
    const start = performance.now();
    return (outcome) => {
      const ms = Math.round(performance.now() - start);
      this.#log.info(
        { server: exchange.server ?? serverOf(), [content!]: exchange.params[named!], ms, outcome },
        'call',
      );
    };
  }
}

function ownerOf(exchange: StepExchange, originOf: OriginOf | undefined): string | undefined {
  const { content, named } = rowOf(exchange.method)!;
  const name = exchange.params[named!];
  return (typeof name === 'string' ? originOf?.(`${content!}s`, name)?.server : undefined) ?? exchange.owner;
}

function outcomeOf(thrown: unknown): string {
  if (thrown instanceof GatewayError) return thrown.code === 'CANCELLED' ? 'cancelled' : `error: ${thrown.code}`;
  return thrown instanceof ProtocolError ? `error: ${thrown.code}` : 'error: INTERNAL';
}
