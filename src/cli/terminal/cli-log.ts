// The log of a command on stderr: readable lines on a terminal, JSON elsewhere.
import { styleText } from 'node:util';
import { createLog } from '../../kernel/base/log.ts';
import type { Printer, Style } from '../../kernel/command/printer.ts';
import { printableLine } from '../../kernel/base/visible.ts';
import type { Log } from '../../kernel/base/log.ts';
import type { LogLevel } from '../../config/settings.ts';
import { hasColours } from './print.ts';

interface LogOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

const COLOURS: Record<string, Style> = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' };

/** `level`: a function is called for every line. */
export function createCliLog(level: LogLevel | (() => LogLevel), err: LogOutput = process.stderr): Log {
  if (err.isTTY !== true) return createLog({ level, write: (line) => err.write(line) });
  const isColoured = hasColours(err);
  return createLog({ level, write: (line) => err.write(`${formatLogLine(line, isColoured)}\n`) });
}

/** Sends the notices of a long-running command to the log as JSON, unless stderr is a terminal. They ignore the log level. */
export function toLogPrinter(print: Printer, err: LogOutput = process.stderr): Printer {
  if (err.isTTY === true) return print;
  const log = createCliLog('info', err);
  return {
    ...print,
    note: (text) => log.info({ message: text }, 'notice'),
    news: (text) => log.info({ message: text }, 'notice'),
    warning: (text) => log.warn({ message: text }, 'notice'),
    problem: (text) => log.warn({ message: text }, 'notice'),
  };
}

/** `12:03:04 warn  upstream.lost server=files reason="exit code 1"` */
export function formatLogLine(line: string, isColoured: boolean): string {
  const { time, level, event, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const paint = (style: Style, text: string): string =>
    isColoured ? styleText(style, text, { validateStream: false }) : text;
  const shown = Object.entries(fields).map(
    ([key, value]) => `${paint('dim', `${printableLine(key)}=`)}${toText(value)}`,
  );
  const clock = paint('dim', String(time ?? '').slice(11, 19));
  const name = paint(COLOURS[String(level)] ?? 'bold', String(level).padEnd(5));
  return [clock, name, printableLine(String(event)), ...shown].join(' ').trimStart();
}

/** Quotes text that has spaces. Shows only the message of an error. */
function toText(value: unknown): string {
  return printableLine(toWords(value));
}

function toWords(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
  const { name, message } = (value ?? {}) as { name?: unknown; message?: unknown };
  if (typeof name === 'string' && typeof message === 'string') return JSON.stringify(message);
  return JSON.stringify(value) ?? '';
}
