// The only file that writes to stdout. Colours are for a terminal whose user did not say NO_COLOR (no-color.org); whatever
// is piped or logged stays plain. Problems and notes go to stderr. Much of what is printed comes from servers: only the styles that
// were asked for here reach the terminal as escape sequences.
import { styleText } from 'node:util';
import { randomId } from '../../shared/crypto/ids.ts';
import { printable } from '../../shared/visible.ts';

export type Style = 'bold' | 'dim' | 'cyan' | 'yellow' | 'green' | 'red';

export interface Printer {
  /** A line of the result, on stdout. */
  line(text?: string): void;
  /** What was asked for as it is, on stdout; on a terminal, which would obey it, text is made harmless and bytes are not shown. */
  content(data: string | Uint8Array): void;
  /** Something to know beside the result, on stderr. */
  note(text: string): void;
  /** The same, of something that is not as it should be. */
  warning(text: string): void;
  /** What this program has done by itself, in its own name. */
  news(text: string): void;
  problem(text: string): void;
  /** The text in this style, or as it is; for one of the above, which alone can show it. */
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
  const own = `\u001B${randomId()}[`; // how styles begin until they are printed: servers cannot know it
  const toPrinted = (text: string): string => text.split(own).map(printable).join('\u001B[');
  return {
    line: (text = '') => void out.write(`${toPrinted(text)}\n`),
    content: (data) => void out.write(out.isTTY ? toHarmless(data) : data),
    note: (text) => void err.write(`${toPrinted(text)}\n`),
    warning: (text) => void err.write(`${toPrinted(text)}\n`),
    news: (text) => void err.write(`parley: ${toPrinted(text)}\n`),
    problem: (text) => void err.write(`parley: ${toPrinted(text)}\n`),
    style(style, text) {
      if (!isColoured) return text;
      const [begin, end] = styleText(style, '\n', { validateStream: false }).replaceAll('\u001B[', own).split('\n');
      return `${begin}${text}${end}`;
    },
    flush: () => new Promise((resolve) => out.write('', () => resolve())),
  };
}

function toHarmless(data: string | Uint8Array): string {
  if (typeof data === 'string') return printable(data);
  return `[${data.byteLength} bytes that are not text; send them to a file with >, or use --json]\n`;
}

export function hasColours(out: { isTTY?: boolean }, env: Record<string, string | undefined> = process.env): boolean {
  return out.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** For what must leave stdout to a client on stdio: everything goes to stderr. */
export function onStderr(print: Printer): Printer {
  return { ...print, line: (text = '') => print.note(text) };
}
