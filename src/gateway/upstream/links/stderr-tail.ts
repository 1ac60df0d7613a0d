// Keeps the end of a child's stderr for the message that says why it exited. Only the tail is kept: a server may write gigabytes,
// which must neither fill our memory nor block the server at a full pipe.
import { StringDecoder } from 'node:string_decoder';

const MAX_CHARS = 4096;
const MAX_LINES = 20;

export class StderrTail {
  readonly #decoder = new StringDecoder('utf8');
  #tail = '';

  push(chunk: Buffer): string {
    const text = this.#decoder.write(chunk);
    // A flat copy: a slice of a joined string would keep all its parts in memory.
    this.#tail = Buffer.from((this.#tail + text).slice(-MAX_CHARS)).toString();
    return text;
  }

  /** Sent to peers, so without stack traces and credentials in URLs. */
  text(): string {
    const lines = this.#tail
      .trimEnd()
      .split('\n')
      .filter((line) => !STACK_FRAME.test(line));
    return lines.slice(-MAX_LINES).join('\n').trim().replace(CREDENTIALS, '$1[redacted]@');
  }
}

/** Of JavaScript and Python. */
const STACK_FRAME = /^\s+at .+|^\s+File ".+", line \d+/;
const CREDENTIALS = /(\b[a-z][\w+.-]*:\/\/)[^\s/@]*:[^\s/@]*@/gi;
