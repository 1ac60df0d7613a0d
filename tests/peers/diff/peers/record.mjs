// What a server was sent and what happened in its handlers, as lines of a file. A gateway may start several processes of one
// server, and the harness reads what all of them wrote. Lines are appended synchronously, so what is read is in order.
import { appendFileSync, closeSync, openSync, readSync, statSync } from 'node:fs';

export function createRecord(file) {
  return (event) => appendFileSync(file, `${JSON.stringify(event)}\n`);
}

/** Messages that a transport hands to its server, whatever installs the handler and whenever. */
export function tapServerTransport(transport, record) {
  let handler;
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set(next) {
      handler = (message, extra) => {
        record({ message });
        next(message, extra);
      };
    },
  });
  return transport;
}

/** Reads the events that were written since it was created, or since `skip()`. */
export class RecordReader {
  #file;
  #offset = 0;
  #rest = '';
  #all = [];
  #skipped = 0;

  constructor(file) {
    this.#file = file;
  }

  get events() {
    this.#read();
    return this.#all.slice(this.#skipped);
  }

  get everything() {
    this.#read();
    return this.#all;
  }

  skip() {
    this.#read();
    this.#skipped = this.#all.length;
  }

  #read() {
    const { size } = statSync(this.#file);
    if (size === this.#offset) return;
    const bytes = Buffer.alloc(size - this.#offset);
    const handle = openSync(this.#file, 'r');
    readSync(handle, bytes, 0, bytes.length, this.#offset);
    closeSync(handle);
    this.#offset = size;
    const lines = (this.#rest + bytes.toString('utf8')).split('\n');
    this.#rest = lines.pop();
    this.#all.push(...lines.map((line) => JSON.parse(line)));
  }
}
