// The only logger: event name and fields as JSON lines on stderr (stdout belongs to the stdio transport). A pino logger
// satisfies the interface. Secrets are removed by key and by value, and terminal control characters are escaped.
import { secrets } from '../secrets/secrets.ts';
import { printable } from './visible.ts';

export interface Log {
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
  child(fields: object): Log;
}

type Level = 'debug' | 'info' | 'warn' | 'error';
type LeastLevel = Level | 'silent';
const LEVELS: Level[] = ['debug', 'info', 'warn', 'error'];
const SECRET =
  /authorization|cookie|token|secret|password|credential|api[-_]?key|private[-_]?key|session[-_]?id|request[-_]?state/i;

interface LogSetup {
  /** The least that is written; a function is called for every line, so that its answer can change. Default: `warn`. */
  level?: LeastLevel | (() => LeastLevel);
  write?: (line: string) => void;
}

/** Logs that never throw. */
const safeLogs = new WeakSet<Log>();

/**
 * A log of JSON lines on stderr, or wherever `write` puts them.
 *
 * @example
 * ```ts
 * import { createLog, createServer } from 'mcp-parley';
 *
 * const server = createServer({ name: 'clock', version: '1.0.0', log: createLog({ level: 'debug' }) });
 * ```
 */
export function createLog(options: LogSetup = {}): Log {
  const { level = 'warn', write = (line) => process.stderr.write(line) } = options;
  const threshold = typeof level === 'string' ? toThreshold(level) : undefined;
  const make = (bound: object): Log => {
    const at = (own: Level) => (fields: object, event: string) => {
      if (LEVELS.indexOf(own) < (threshold ?? toThreshold(levelOf(level)))) return;
      const line = { time: new Date().toISOString(), level: own, event, ...bound, ...fields };
      try {
        const written: unknown = write(`${printable(toText(line))}\n`);
        if (written instanceof Promise) written.catch(() => {});
      } catch {
        // The program's own `write` has failed, and there is nowhere else to say so.
      }
    };
    const log: Log = {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => make({ ...bound, ...fields }),
    };
    safeLogs.add(log);
    return log;
  };
  return make({});
}

/** Whatever the program's own function does, there is a level. */
function levelOf(level: LeastLevel | (() => LeastLevel)): LeastLevel {
  if (typeof level === 'string') return level;
  try {
    const made: unknown = level();
    if (made instanceof Promise) made.catch(() => {});
    else if (made === 'silent' || LEVELS.includes(made as Level)) return made as LeastLevel;
  } catch {
    // As below.
  }
  return 'warn';
}

function toThreshold(level: LeastLevel): number {
  return level === 'silent' ? LEVELS.length : LEVELS.indexOf(level);
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
  } catch {
    // Something in the fields cannot be read. What happened is logged without them.
    const { time, level, event } = line as Record<string, unknown>;
    return JSON.stringify({ time, level, event, fields: '[unreadable]' });
  }
}

/**
 * A log that never throws, around a logger of the author: a broken sink must not end what is logged. The first failure is reported on
 * stderr.
 */
export function toSafeLog(log: Log | undefined): Log {
  return log === undefined ? createLog() : safeLogs.has(log) ? log : guardLog(log);
}

function guardLog(log: Log): Log {
  let isReported = false;
  const fail = (error: unknown): void => {
    if (isReported) return;
    isReported = true;
    createLog().error({ error }, 'log.failed');
  };
  const at = (level: Level) => (fields: object, event: string) => {
    try {
      const written: unknown = log[level](fields, event);
      if (written instanceof Promise) written.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
  const child = (fields: object): Log => {
    try {
      return guardLog(log.child(fields));
    } catch (error) {
      fail(error);
      return safe;
    }
  };
  const safe: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child };
  safeLogs.add(safe);
  return safe;
}

function redact(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`;
  if (key !== '' && SECRET.test(key) && isRevealing(value)) return '[redacted]';
  if (typeof value === 'string') return secrets.mask(value);
  if (value instanceof Error) return readError(value);
  return value;
}

/** Getters of a foreign error may throw. */
function readError(error: Error): object {
  const read = (name: 'name' | 'message' | 'stack' | 'cause'): unknown => {
    try {
      return error[name];
    } catch {
      return '[unreadable]';
    }
  };
  return { name: read('name'), message: read('message'), stack: read('stack'), cause: read('cause') };
}

/** Numbers are not secrets, even if called `maxTokens`. */
function isRevealing(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}
