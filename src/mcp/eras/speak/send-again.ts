// The only place that sends a call again, whatever had to be put right before: a login, a lost session, outdated schemas, a page to visit.
// Invariants:
// 1. A repeat is a new request made of the same data. It equals the first one byte for byte, except for its id.
// 2. Nothing is sent after a cancel, and a cancelled caller hears of it at once, even while a login page is open.
import { cancelledBy } from '../../../kernel/base/cancelled-error.ts';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import { rejectOnAbort } from '../../../kernel/base/timing.ts';
import type { Wire } from './server-dialect.ts';
import type { WireRequest } from './wire-request.ts';

/** The cause of a failure was put right. */
export const AGAIN: unique symbol = Symbol('again');

interface RepeatableCall<T> {
  /** The cancel of the caller, also while nothing is in flight. */
  signal: Abortable | undefined;
  /** Resolves with AGAIN, or with a result in place of the call; rejects if nothing helps. */
  remedy(thrown: unknown, earlier: readonly unknown[]): Promise<T | typeof AGAIN>;
  send(): Promise<T>;
}

/** For a call that has failed. */
export async function sendAgain<T>(call: RepeatableCall<T>, thrown: unknown): Promise<T> {
  const { signal } = call;
  const earlier: unknown[] = [];
  for (let failure = thrown; ;) {
    if (signal?.aborted) throw failure;
    const outcome = await rejectOnAbort(call.remedy(failure, earlier), signal, () => cancelledBy(signal));
    if (outcome !== AGAIN) return outcome;
    earlier.push(failure);
    try {
      return await call.send();
    } catch (next) {
      failure = next;
    }
  }
}

/** Sends a request, and again as often as its remedies help. */
export function sendRequest(wire: Wire, request: WireRequest): Promise<unknown> {
  const sent = wire.send(request);
  return request.mayRepeat ? sent.catch((thrown: unknown) => sendRequestAgain(wire, request, thrown)) : sent;
}

function sendRequestAgain(wire: Wire, first: WireRequest, thrown: unknown): Promise<unknown> {
  let request = first;
  const call: RepeatableCall<unknown> = {
    // Not that of the request: some must not be cancelled once they are sent, but this one is not in flight.
    signal: first.call.signal,
    async remedy(failure, earlier) {
      // If it has a result, then what failed is a later round of questions, which has its own remedies.
      if (request.hasResult || !(await request.putRight(failure, earlier))) throw failure;
      return AGAIN;
    },
    send() {
      request = request.again();
      return wire.send(request);
    },
  };
  return sendAgain(call, thrown);
}
