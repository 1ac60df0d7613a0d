// Logs one line for each call on stderr: server, tool, duration and outcome, but no arguments and no results. For `--log-calls`.
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { fieldOf } from '../../kernel/raw/raw-object.ts';
import type { OriginOf, Step, StepExchange } from '../../kernel/step.ts';
import { CALL_TOOL, ELICIT_INPUT, GET_PROMPT, READ_RESOURCE } from '../../kernel/methods.ts';
import { resultIn } from '../../gateway/chain/outcome.ts';
import { dictionary } from '../../kernel/containers/dictionary.ts';
import type { Log } from '../../kernel/base/log.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { createCliLog } from '../terminal/cli-log.ts';

/** What each method calls. */
const CALLS: Record<string, { kind: string; area: Parameters<OriginOf>[0] }> = dictionary({
  [CALL_TOOL]: { kind: 'tool', area: 'tools' },
  [GET_PROMPT]: { kind: 'prompt', area: 'prompts' },
  [READ_RESOURCE]: { kind: 'resource', area: 'resources' },
});

interface LoggedCall {
  readonly method: string;
  readonly params: { name?: unknown; uri?: unknown };
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
      methods: Object.keys(CALLS),
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
    if (CALLS[exchange.method] === undefined) return work();
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
    const { kind } = CALLS[exchange.method]!;
    const start = performance.now();
    return (outcome) => {
      const { name, uri } = exchange.params;
      const ms = Math.round(performance.now() - start);
      this.#log.info({ server: exchange.server ?? serverOf(), [kind]: name ?? uri, ms, outcome }, 'call');
    };
  }
}

function ownerOf(exchange: StepExchange, originOf: OriginOf | undefined): string | undefined {
  const { area } = CALLS[exchange.method]!;
  const named = area === 'resources' ? exchange.params.uri : exchange.params.name;
  return (typeof named === 'string' ? originOf?.(area, named)?.server : undefined) ?? exchange.owner;
}

function outcomeOf(thrown: unknown): string {
  if (thrown instanceof GatewayError) return thrown.code === 'CANCELLED' ? 'cancelled' : `error: ${thrown.code}`;
  return thrown instanceof ProtocolError ? `error: ${thrown.code}` : 'error: INTERNAL';
}
