// Keeps the end of a child's stderr for the message that says why it exited. Only the tail is kept: a server may write gigabytes,
// which must neither fill our memory nor block the server at a full pipe. Secrets that were given to the child are masked.
import { StringDecoder } from 'node:string_decoder';
import { MASKED, Secrets, secrets } from '../../../shared/secrets/secrets.ts';

const MAX_CHARS = 4096;
const MAX_LINES = 20;
const MIN_SECRET_CHARS = 8;

export class StderrTail {
  readonly #decoder = new StringDecoder('utf8');
  readonly #given = new Secrets();
  #tail = '';
  /** The beginning of a line. */
  #rest = '';

  /** `env`: all its values count as secrets here, unless they are too common (`1`, `true`, `info`). */
  constructor(env: Record<string, string> = {}) {
    for (const value of Object.values(env)) if (value.length >= MIN_SECRET_CHARS) this.#given.add(value);
  }

  /** Returns the whole lines for the log: a secret may come in two pieces. */
  push(chunk: Buffer): string {
    const text = this.#decoder.write(chunk);
    // A flat copy: a slice of a joined string would keep all its parts in memory.
    this.#tail = Buffer.from((this.#tail + text).slice(-MAX_CHARS)).toString();
    const all = this.#rest + text;
    const end = all.length > MAX_CHARS ? all.length : all.lastIndexOf('\n') + 1;
    this.#rest = all.slice(end);
    return this.#masked(all.slice(0, end));
  }

  /** The last line, if it has no end. */
  end(): string {
    const rest = this.#rest;
    this.#rest = '';
    return this.#masked(rest);
  }

  /** Sent to peers, so without stack traces and credentials in URLs. */
  text(): string {
    const lines = this.#tail
      .trimEnd()
      .split('\n')
      .filter((line) => !STACK_FRAME.test(line));
    return this.#masked(lines.slice(-MAX_LINES).join('\n').trim().replace(CREDENTIALS, `$1${MASKED}@`));
  }

  #masked(text: string): string {
    return this.#given.mask(secrets.mask(text));
  }
}

/** Of JavaScript and Python. */
const STACK_FRAME = /^\s+at .+|^\s+File ".+", line \d+/;
const CREDENTIALS = /(\b[a-z][\w+.-]*:\/\/)[^\s/@]*:[^\s/@]*@/gi;
