// What server processes write to stderr. The gateway logs it as `upstream.stderr`; where a command stands for one server, it
// goes on to our own stderr as it came, as if the client had started the server itself.
import type { Log } from '../shared/log.ts';

const KEPT_CHARS = 2000;

export class ServerStderr {
  readonly #write: (text: string) => void;
  #tail = '';
  #isGarbled = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** The last words, for the message that says why a server is not there. */
  get tail(): string {
    return this.#tail.trim();
  }

  /** It wrote to stdout what is no message: the reason why many a server is not there. */
  get isGarbled(): boolean {
    return this.#isGarbled;
  }

  /** The log, without the lines that this one passes on. */
  in(log: Log): Log {
    return {
      debug: (fields, event) => (event === 'upstream.stderr' ? this.#take(fields) : log.debug(fields, event)),
      info: (fields, event) => log.info(fields, event),
      warn: (fields, event) => {
        this.#isGarbled ||= event === 'upstream.garbage';
        log.warn(fields, event);
      },
      error: (fields, event) => log.error(fields, event),
      child: (fields) => this.in(log.child(fields)),
    };
  }

  #take(fields: object): void {
    const { text } = fields as { text: string };
    this.#tail = (this.#tail + text).slice(-KEPT_CHARS);
    this.#write(text);
  }
}
