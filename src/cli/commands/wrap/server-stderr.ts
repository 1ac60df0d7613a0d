// Passes the stderr of a wrapped server on to our own, as if the client had started the server itself. The gateway logs it as
// `upstream.stderr`.
import type { Log } from '../../../kernel/base/log.ts';

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

  /** The end of its stderr, to explain why the server failed. */
  get tail(): string {
    return this.#tail.trim();
  }

  /** The server wrote something else than messages to stdout, a common reason for failures. */
  get isGarbled(): boolean {
    return this.#garbled > 0;
  }

  /** The first such line. */
  get garbage(): string | undefined {
    return this.#garbage;
  }

  /** The log without the lines that are passed on. */
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

  /** Such a server does it at every start or call, so only the first lines are reported. */
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
