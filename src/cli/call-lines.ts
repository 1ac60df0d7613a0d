// One line on stderr for each call: which server, which tool, how long, how it ended. Arguments and results are the user's and are left
// out. For `--log-calls`, which needs no change to a file.
import type { ResultObject } from '../protocol/raw-object.ts';
import { fieldOf } from '../protocol/raw-object.ts';
import type { Step } from '../protocol/step.ts';
import { resultIn } from '../gateway/middleware/outcome.ts';
import { dictionary } from '../shared/dictionary.ts';
import type { Log } from '../shared/log.ts';
import { GatewayError, ProtocolError } from '../shared/errors.ts';
import { createCliLog } from './cli-log.ts';

const CALLS: Record<string, string> = dictionary({
  'tools/call': 'tool',
  'prompts/get': 'prompt',
  'resources/read': 'resource',
});

interface Called {
  readonly method: string;
  readonly params: { name?: unknown; uri?: unknown };
  readonly server?: string | undefined;
}

/** Lines for a person on a terminal, JSON elsewhere. */
export class CallLines {
  readonly #log: Log;

  constructor(log: Log = createCliLog('info')) {
    this.#log = log;
  }

  /** Outermost of all steps: what it sees is what the client was told. */
  get step(): Step {
    return {
      name: 'log-calls',
      handle: async (exchange, next) => this.around(exchange, next, (outcome) => resultIn(outcome)),
    };
  }

  /** `server` where the exchange does not name it. */
  async around<T>(
    exchange: Called,
    work: () => T | Promise<T>,
    resultOf: (value: T) => ResultObject | undefined,
    server?: string,
  ): Promise<T> {
    const kind = CALLS[exchange.method];
    if (kind === undefined) return work();
    const start = performance.now();
    const tell = (outcome: string): void => {
      const { name, uri } = exchange.params;
      const ms = Math.round(performance.now() - start);
      this.#log.info({ server: exchange.server ?? server, [kind]: name ?? uri, ms, outcome }, 'call');
    };
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
}

function outcomeOf(thrown: unknown): string {
  if (thrown instanceof GatewayError) return thrown.code === 'CANCELLED' ? 'cancelled' : `error: ${thrown.code}`;
  return thrown instanceof ProtocolError ? `error: ${thrown.code}` : 'error: INTERNAL';
}
