// The only file that writes to stdout. Colours are for a terminal whose user did not say NO_COLOR (no-color.org); whatever
// is piped or logged stays plain. Problems and notes go to stderr.
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'cyan' | 'yellow' | 'green' | 'red';

export interface Printer {
  /** A line of the result, on stdout. */
  line(text?: string): void;
  /** A part of the result that is not text, on stdout. */
  bytes(data: Uint8Array): void;
  /** Something to know beside the result, on stderr. */
  note(text: string): void;
  problem(text: string): void;
  /** The text in this style, or as it is. */
  style(style: Style, text: string): string;
  /** Resolves when all that was printed has left the process, or cannot any more. */
  flush(): Promise<void>;
}

interface Output {
  isTTY?: boolean;
  write(data: string | Uint8Array, done?: () => void): unknown;
  on?(event: 'error', listener: () => void): unknown;
}

interface PrinterOptions {
  out?: Output;
  err?: Output;
  env?: Record<string, string | undefined>;
}

export function createPrinter(options: PrinterOptions = {}): Printer {
  const { out = process.stdout, err = process.stderr, env = process.env } = options;
  out.on?.('error', () => {}); // `parley … | head`: the reader has seen enough, and that is no failure
  const isColoured = hasColours(out, env);
  return {
    line: (text = '') => void out.write(`${text}\n`),
    bytes: (data) => void out.write(data),
    note: (text) => void err.write(`${text}\n`),
    problem: (text) => void err.write(`parley: ${text}\n`),
    style: (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text),
    flush: () => new Promise((resolve) => out.write('', () => resolve())),
  };
}

export function hasColours(out: { isTTY?: boolean }, env: Record<string, string | undefined> = process.env): boolean {
  return out.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** For what must leave stdout to a client on stdio: everything goes to stderr. */
export function onStderr(print: Printer): Printer {
  return { ...print, line: (text = '') => print.note(text) };
}
