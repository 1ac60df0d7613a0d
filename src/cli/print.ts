// The only file that writes to stdout. Colours are for a terminal whose user did not say NO_COLOR (no-color.org); whatever
// is piped or logged stays plain. Problems go to stderr.
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'cyan' | 'yellow';

export interface Printer {
  line(text?: string): void;
  problem(text: string): void;
  /** The text in this style, or as it is. */
  style(style: Style, text: string): string;
}

interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
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
  const isColoured = out.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return {
    line: (text = '') => void out.write(`${text}\n`),
    problem: (text) => void err.write(`parley: ${text}\n`),
    style: (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text),
  };
}
