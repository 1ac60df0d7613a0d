// Everything that was sent and received in one play of a conversation, in one order, on both sides. Peers write it, conversations wait
// for something on it, and the comparison and the rules read it when all is over.
const DEADLINE_MS = 30_000;

export class Tape {
  entries = [];
  #deadlineMs;
  #waiting = new Set();

  constructor(deadlineMs = DEADLINE_MS) {
    this.#deadlineMs = deadlineMs;
  }

  /** `side`: client or server; `way`: in or out, as that side sees it; or `event` for what is not a message. */
  write(entry) {
    const written = { seq: this.entries.length, ...entry };
    this.entries.push(written);
    for (const look of this.#waiting) look();
    return written;
  }

  mark(event) {
    return this.write({ side: 'play', event });
  }

  find(matches) {
    return this.entries.find(matches);
  }

  filter(matches) {
    return this.entries.filter(matches);
  }

  /** The first entry that matches, now or when it comes. */
  until(what, matches) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new NeverCame(what));
      }, this.#deadlineMs);
      const look = () => {
        const found = this.entries.find(matches);
        if (!found) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }
}

export class NeverCame extends Error {
  constructor(what) {
    super(`never came: ${what}`);
    this.what = what;
  }
}
