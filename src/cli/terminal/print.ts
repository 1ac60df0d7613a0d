// The only file that writes to stdout. Uses colours only on a terminal without NO_COLOR (no-color.org). Problems and notes go to stderr.
// Much of the text comes from servers, so only the styles made here reach the terminal as escape sequences.
import { styleText } from 'node:util';
import { randomId } from '../../kernel/crypto/ids.ts';
import { printable } from '../../kernel/base/visible.ts';
import type { Printer } from '../../kernel/command/printer.ts';

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
  out.on?.('error', () => {}); // `parley … | head` closes the pipe early, which is not a failure
  const isColoured = hasColours(out, env);
  const own = `\u001B${randomId()}[`; // marks styles until they are printed; servers cannot guess it
  const toPrinted = (text: string): string => text.split(own).map(printable).join('\u001B[');
  return {
    isTerminal: out.isTTY === true,
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

/** The same without colours. */
export function uncoloured(print: Printer): Printer {
  return { ...print, style: (_style, text) => text };
}

/** Sends everything to stderr, to leave stdout to a client on stdio. */
export function onStderr(print: Printer): Printer {
  return { ...print, isTerminal: process.stderr.isTTY, line: (text = '') => print.note(text) };
}
