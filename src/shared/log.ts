// The only logger: event name and fields as JSON lines on stderr (stdout belongs to the stdio transport). A pino logger
// satisfies the interface. Secrets are removed by key and by value, and terminal control characters are escaped.
import { secrets } from './secrets/secrets.ts';
import { printable } from './visible.ts';

export interface Log {
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
  child(fields: object): Log;
}

type Level = 'debug' | 'info' | 'warn' | 'error';
const LEVELS: Level[] = ['debug', 'info', 'warn', 'error'];
const SECRET =
  /authorization|cookie|token|secret|password|credential|api[-_]?key|private[-_]?key|session[-_]?id|request[-_]?state/i;

export function createLog(options: { level?: Level | 'silent'; write?: (line: string) => void } = {}): Log {
  const { level = 'warn', write = (line) => process.stderr.write(line) } = options;
  const threshold = level === 'silent' ? LEVELS.length : LEVELS.indexOf(level);
  const make = (bound: object): Log => {
    const at = (level: Level) => (fields: object, event: string) => {
      if (LEVELS.indexOf(level) < threshold) return;
      const line = { time: new Date().toISOString(), level, event, ...bound, ...fields };
      write(`${printable(toText(line))}\n`);
    };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => make({ ...bound, ...fields }),
    };
  };
  return make({});
}

/** Never throws, whatever is logged. */
function toText(line: object): string {
  const within: { value: unknown; shown: unknown }[] = [];
  try {
    return JSON.stringify(line, function replace(this: unknown, key: string, value: unknown) {
      while (within.length > 0 && within.at(-1)!.shown !== this) within.pop();
      const shown = redact(key, value);
      if (typeof shown !== 'object' || shown === null) return shown;
      if (within.some((one) => one.value === value)) return '[circular]';
      within.push({ value, shown });
      return shown;
    });
  } catch (cause) {
    return JSON.stringify({ level: 'error', event: 'log.failed', reason: String(cause) });
  }
}

function redact(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`;
  if (key !== '' && SECRET.test(key) && isRevealing(value)) return '[redacted]';
  if (typeof value === 'string') return secrets.mask(value);
  if (value instanceof Error)
    return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
  return value;
}

/** Numbers are not secrets, even if called `maxTokens`. */
function isRevealing(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}
