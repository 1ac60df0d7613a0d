// Spares a failing server and its callers: after several failures in a row, calls are refused at once for a while; then one is
// let through as a test. The server of a name is learned from earlier calls.
import type { Step, StepExchange } from '../../../kernel/step.ts';
import { CALL_TOOL } from '../../../kernel/methods.ts';
import { systemClock, ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { checkOptionChoice, withDefaults } from '../../chain/step-options.ts';
import { isUpstreamTrouble } from '../../chain/upstream-trouble.ts';

export interface CircuitBreakerOptions {
  /** One circuit per server or per tool. */
  per?: 'server' | 'tool' | undefined;
  /** How many failures in a row open the circuit. */
  failures?: number | undefined;
  /** How long calls are refused. */
  resetMs?: number | undefined;
  clock?: Clock | undefined;
}

const DEFAULTS = { per: 'server', failures: 5, resetMs: 30_000, clock: systemClock };
/** Names and URIs come from clients, so their number is bounded. */
const MAX_KNOWN = 10_000;

/**
 * Refuses calls at once while a server or tool keeps failing.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { circuitBreaker } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [circuitBreaker({ per: 'tool', failures: 5 })] });
 * ```
 */
export function circuitBreaker(options: CircuitBreakerOptions = {}): Step {
  const chosen = withDefaults('circuitBreaker', options, DEFAULTS);
  checkOptionChoice('circuitBreaker.per', chosen.per, ['server', 'tool']);
  const perTool = chosen.per === 'tool';
  const circuits = new BoundedMap<string, Circuit>(MAX_KNOWN);
  const servers = new BoundedMap<string, string>(MAX_KNOWN);
  return {
    name: 'circuitBreaker',
    seesStarts: true,
    ...(perTool && { methods: [CALL_TOOL] }),
    handle: async function circuitBreaker(exchange, next) {
      const subject = subjectOf(exchange);
      const before = perTool ? String(exchange.params.name) : servers.get(subject);
      const entered = before === undefined ? undefined : circuits.get(before);
      const waitMs = entered?.enter() ?? 0;
      if (waitMs > 0) throw refusal(before!, entered!.failures, waitMs);
      try {
        const outcome = await next();
        circuits.delete(before ?? exchange.server ?? '');
        return outcome;
      } catch (thrown) {
        entered?.leave();
        const failed = perTool ? before : serverOf(exchange, thrown);
        if (thrown instanceof ProtocolError) circuits.delete(failed ?? ''); // the server answers, though with an error
        if (isUpstreamTrouble(thrown) && failed !== undefined) {
          circuits.getOrCreate(failed, () => new Circuit(chosen)).fail();
        }
        throw thrown;
      } finally {
        if (!perTool && exchange.server !== undefined) servers.set(subject, exchange.server);
      }
    },
  } satisfies Step;
}

/** The key by which to remember which server answers. */
function subjectOf({ scope, method, params }: StepExchange): string {
  return JSON.stringify([scope, method, params.name ?? params.uri]);
}

function serverOf({ server }: StepExchange, thrown: unknown): string | undefined {
  if (server !== undefined) return server;
  const named = thrown instanceof GatewayError ? thrown.details.server : undefined;
  return typeof named === 'string' ? named : undefined;
}

function refusal(server: string, failures: number, retryAfterMs: number): GatewayError {
  const reason = `it failed ${failures} times in a row; the next try is in ${retryAfterMs} ms`;
  return new GatewayError('UPSTREAM_BUSY', { server, reason, retryAfterMs });
}

interface CircuitOptions {
  /** How many failures in a row open it. */
  failures: number;
  /** How long it stays open. */
  resetMs: number;
  clock: Clock;
}

/**
 * The state of a circuit breaker. Closed: calls pass. Open: calls are refused for a while. Half open: one call at a time tests
 * the server. A success removes the circuit.
 */
class Circuit {
  readonly #options: CircuitOptions;
  #failures = 0;
  #openUntil = 0;
  #probing = false;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Returns 0 if a call may start, or else how long to wait. */
  enter(): number {
    const { clock, failures, resetMs } = this.#options;
    if (this.#failures < failures) return 0;
    const leftMs = this.#openUntil - ticksOf(clock);
    if (leftMs > 0) return Math.ceil(leftMs);
    if (this.#probing) return resetMs;
    this.#probing = true;
    return 0;
  }

  fail(): void {
    this.#failures++;
    this.#probing = false;
    if (this.#failures >= this.#options.failures) {
      this.#openUntil = ticksOf(this.#options.clock) + this.#options.resetMs;
    }
  }

  /** Ends a call that neither failed nor succeeded. */
  leave(): void {
    this.#probing = false;
  }
}
