// A server that says when to come back is left alone until then: calls are refused at once, with the rest of the time. An HTTP status (429, or 503
// with Retry-After) is about all calls that this gateway sends there, and about lists if a list got it: others may need one to know what they
// may repeat. An error of the protocol may be about one user or tool, so it stops only the same caller from calling the same thing.
import { callerOfClient } from '../../kernel/exchange.ts';
import type { Exchange } from '../../kernel/exchange.ts';
import { LIST_METHODS } from '../../kernel/methods.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { EARLY_MS, ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { MAX_PAUSE_MS } from '../../kernel/base/limits.ts';

interface Pause {
  /** When the server wants to be called again. */
  readonly until: number;
  /** When it is tried again all the same: a wrong hint must not cost a server for days. */
  readonly triedAt: number;
}

const EVERYTHING = 'all';
const CALLS = 'calls';
const SERVER_ERROR = -32000;
const MAX_PAUSES = 1000;

export class ServerPause {
  readonly #server: string;
  readonly #clock: Clock;
  /** By what they are about. */
  readonly #pauses = new BoundedMap<string, Pause>(MAX_PAUSES);

  constructor(server: string, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** Throws UPSTREAM_BUSY while the server is to be left alone. */
  check(exchange: Exchange): void {
    this.#refuseFor(EVERYTHING);
    if (!isList(exchange)) this.#refuseFor(CALLS);
    this.#refuseFor(subjectOf(exchange));
  }

  note(hint: BusyError, exchange: Exchange): void {
    const ms = hint.retryAfterMs!;
    const now = ticksOf(this.#clock);
    const pause = { until: now + ms, triedAt: now + Math.min(ms, MAX_PAUSE_MS) };
    const subject = hint instanceof ProtocolError ? subjectOf(exchange) : isList(exchange) ? EVERYTHING : CALLS;
    this.#pauses.set(subject, pause);
  }

  #refuseFor(subject: string): void {
    const pause = this.#pauses.peek(subject);
    if (!pause) return;
    const now = ticksOf(this.#clock);
    // A caller that has waited for the whole pause may come a little early.
    if (now + EARLY_MS >= pause.triedAt) return this.#pauses.delete(subject);
    const reason = 'it has asked not to be called for a while, so it was not called';
    const retryAfterMs = Math.ceil(pause.until - now);
    throw new GatewayError('UPSTREAM_BUSY', { server: this.#server, reason, retryAfterMs });
  }
}

type BusyError = GatewayError | ProtocolError;

/** Whether an error of the server says when to come back. */
export function asksForPause(thrown: unknown): thrown is BusyError {
  if (!(thrown instanceof GatewayError || thrown instanceof ProtocolError)) return false;
  return (thrown.code === 'UPSTREAM_BUSY' || thrown.code === SERVER_ERROR) && (thrown.retryAfterMs ?? 0) > 0;
}

function isList({ method }: Exchange): boolean {
  return (LIST_METHODS as readonly string[]).includes(method);
}

function subjectOf({ client, method, params }: Exchange): string {
  return JSON.stringify([
    callerOfClient(client),
    method,
    params.name ?? params.uri ?? params.sessionId ?? params.taskId,
  ]);
}
