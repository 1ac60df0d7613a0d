// What server processes write to stderr. The gateway logs it as `upstream.stderr`; where a command stands for one server, it
// goes on to our own stderr as it came, as if the client had started the server itself.
import type { Log } from '../../shared/log.ts';

const KEPT_CHARS = 2000;
const SHOWN_GARBAGE = 3;

export class ServerStderr {
  readonly #write: (text: string) => void;
  #tail = '';
  #garbled = 0;
  #garbage: string | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** The last words, for the message that says why a server is not there. */
  get tail(): string {
    return this.#tail.trim();
  }

  /** It wrote to stdout what is not a message: the reason why many a server is not there. */
  get isGarbled(): boolean {
    return this.#garbled > 0;
  }

  /** The first of it. */
  get garbage(): string | undefined {
    return this.#garbage;
  }

  /** The log, without the lines that this one passes on. */
  in(log: Log): Log {
    return {
      debug: (fields, event) => (event === 'upstream.stderr' ? this.#take(fields) : log.debug(fields, event)),
      info: (fields, event) => log.info(fields, event),
      warn: (fields, event) => {
        if (event === 'upstream.garbage') this.#takeGarbage(fields);
        log.warn(fields, event);
      },
      error: (fields, event) => log.error(fields, event),
      child: (fields) => this.in(log.child(fields)),
    };
  }

  /** A server that prints to stdout does so with every start or call: the first few lines say it. */
  #takeGarbage(fields: object): void {
    const { what } = fields as { what: string };
    this.#garbage ??= what;
    if (this.#garbled++ < SHOWN_GARBAGE) {
      this.#write(`parley: the server wrote to stdout what is not an MCP message (logs belong on stderr): ${what}\n`);
    }
  }

  #take(fields: object): void {
    const { text } = fields as { text: string };
    this.#tail = (this.#tail + text).slice(-KEPT_CHARS);
    this.#write(text);
  }
}
