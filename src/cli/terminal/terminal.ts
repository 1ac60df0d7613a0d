// Asks questions on stderr and reads lines from stdin; stdout is for the result. Piped lines wait until they are needed. Removes escape
// sequences, as servers write the questions.
import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { printable } from '../../kernel/base/visible.ts';

export interface Terminal {
  say(text: string): void;
  /** The next line; undefined at the end of input. */
  ask(prompt: string, signal?: AbortSignal): Promise<string | undefined>;
  /** A question is on the screen, and the user is typing. */
  readonly isAsking: boolean;
  /** A person can read the questions and type the answers: neither is a pipe or a file. */
  readonly hasPerson: boolean;
  close(): void;
}

export function createTerminal(
  input: Readable & { isTTY?: boolean } = process.stdin,
  output: Writable & { isTTY?: boolean } = process.stderr,
): Terminal {
  const isTyped = input.isTTY === true;
  const lines: string[] = [];
  let waiting: ((line: string | undefined) => void) | undefined;
  let isOver = false;
  let reader: Interface | undefined;
  const open = (): void => {
    reader = createInterface({ input, crlfDelay: Infinity });
    reader.on('line', (line) => (waiting ? waiting(line) : lines.push(line)));
    reader.on('close', () => {
      isOver = true;
      waiting?.(undefined);
    });
  };
  const next = (signal?: AbortSignal): Promise<string | undefined> =>
    new Promise((resolve) => {
      waiting = (line) => {
        waiting = undefined;
        resolve(line);
      };
      signal?.addEventListener('abort', () => waiting?.(undefined), { once: true });
    });
  return {
    say: (text) => void output.write(`${printable(text)}\n`),
    async ask(prompt, signal) {
      if (!reader) open(); // without a question, stdin stays untouched
      output.write(printable(prompt));
      const line = lines.shift() ?? (isOver || signal?.aborted ? undefined : await next(signal));
      if (!isTyped) output.write('\n'); // piped input does not end the line on the screen
      return line;
    },
    get isAsking() {
      return waiting !== undefined;
    },
    hasPerson: isTyped && output.isTTY === true,
    close: () => reader?.close(),
  };
}

/** One question to the user; anything but yes is no. */
export async function isConfirmed(question: string): Promise<boolean> {
  const terminal = createTerminal();
  const answer = await terminal.ask(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}
