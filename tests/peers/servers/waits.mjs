// Calls that wait until they are cancelled or released, so that a test decides the order and can observe what a handler received.

export class Waits {
  #calls = new Map();

  /** Never ends by itself; rejects when the signal is aborted. */
  async wait(key, signal) {
    const call = this.#call(key);
    call.start();
    await new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', resolve)));
    call.abort();
    throw new Error('called off');
  }

  /** Waits until it is let go. */
  hold(key) {
    return this.#call(key).released;
  }

  release(key) {
    this.#call(key).release();
  }

  /** Resolves once the call waits. */
  started(key) {
    return this.#call(key).started;
  }

  /** Resolves once the waiting call has been called off. */
  aborted(key) {
    return this.#call(key).aborted;
  }

  #call(key) {
    if (!this.#calls.has(key)) {
      const call = {};
      call.released = new Promise((resolve) => (call.release = resolve));
      call.started = new Promise((resolve) => (call.start = resolve));
      call.aborted = new Promise((resolve) => (call.abort = resolve));
      this.#calls.set(key, call);
    }
    return this.#calls.get(key);
  }
}
