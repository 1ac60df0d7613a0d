// How a body learns that its session ends early: `ask.signal` aborts, everything pending rejects, and whatever it asks from then on is refused.
import { SessionEndedError } from '../authoring/ask-failure.ts';

/** A body that keeps asking after its session has ended is abandoned after this many times. */
const MAX_REFUSALS = 100;

export class EndNotice {
  /** The body knows that the session ends. */
  isGiven = false;
  #aborting: AbortController | undefined;
  #refusals = 0;

  /** Created on demand, as most bodies do not use it. */
  get signal(): AbortSignal {
    if (!this.#aborting) {
      this.#aborting = new AbortController();
      if (this.isGiven) this.#aborting.abort();
    }
    return this.#aborting.signal;
  }

  /** Returns the error for everything that the body waits for. */
  give(why: string): SessionEndedError {
    this.isGiven = true;
    const ended = new SessionEndedError(why);
    this.#aborting?.abort(ended);
    return ended;
  }

  /** The answer to a late question; undefined for a body that catches every error and asks again, as it would never stop. */
  refuse(why: string): Promise<never> | undefined {
    if (++this.#refusals > MAX_REFUSALS) return undefined;
    const refused = Promise.reject(new SessionEndedError(why));
    refused.catch(() => {});
    return refused;
  }
}
