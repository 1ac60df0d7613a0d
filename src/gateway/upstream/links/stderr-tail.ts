// The last words of a child process, for the message that says why it ended. Keeps the tail only: a server may write
// gigabytes to stderr in its life, and none of it may grow our memory or stop the server at a full pipe.
import { StringDecoder } from 'node:string_decoder';

const MAX_CHARS = 4096;
const MAX_LINES = 20;

export class StderrTail {
  readonly #decoder = new StringDecoder('utf8');
  #tail = '';

  push(chunk: Buffer): string {
    const text = this.#decoder.write(chunk);
    // A flat copy: a slice of a joined string would keep all the parts it was made of.
    this.#tail = Buffer.from((this.#tail + text).slice(-MAX_CHARS)).toString();
    return text;
  }

  /** Empty when nothing was written. Told to peers, so without stack traces and credentials in URLs. */
  text(): string {
    const lines = this.#tail
      .trimEnd()
      .split('\n')
      .filter((line) => !STACK_FRAME.test(line));
    return lines.slice(-MAX_LINES).join('\n').trim().replace(CREDENTIALS, '$1[redacted]@');
  }
}

/** JavaScript and Python. */
const STACK_FRAME = /^\s+at .+|^\s+File ".+", line \d+/;
const CREDENTIALS = /(\b[a-z][\w+.-]*:\/\/)[^\s/@]*:[^\s/@]*@/gi;
