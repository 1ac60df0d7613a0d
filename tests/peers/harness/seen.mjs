// Records the notifications of a client, and waits for them with a deadline that names the expected one.

export class Seen {
  #events = [];
  #waiting = new Set();

  add(event) {
    this.#events.push(event);
    for (const check of this.#waiting) check();
  }

  /** The first event that fits, past or to come; it is taken away. */
  next(what, fits, { withinMs = 5000 } = {}) {
    return new Promise((resolve, reject) => {
      const check = () => {
        const index = this.#events.findIndex(fits);
        if (index === -1) return;
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(this.#events.splice(index, 1)[0]);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(check);
        reject(new Error(`no ${what} within ${withinMs} ms`));
      }, withinMs);
      this.#waiting.add(check);
      check();
    });
  }
}

/** Rejects when the work takes longer; the work itself is not ended. */
export function within(what, withinMs, work) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not done within ${withinMs} ms`)), withinMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
