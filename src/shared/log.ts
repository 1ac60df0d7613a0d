// The one logger: event name and fields, JSON lines to stderr (stdout belongs to the stdio transport). A pino logger fits
// the interface as it is. Secrets are cut by key at the sink.
export interface Log {
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
  child(fields: object): Log;
}

type Level = 'debug' | 'info' | 'warn' | 'error';
const LEVELS: Level[] = ['debug', 'info', 'warn', 'error'];
const SECRET = /authorization|cookie|token|secret|password|api-?key/i;

export function createLog(options: { level?: Level | 'silent'; write?: (line: string) => void } = {}): Log {
  const { level = 'warn', write = (line) => process.stderr.write(line) } = options;
  const threshold = level === 'silent' ? LEVELS.length : LEVELS.indexOf(level);
  const make = (bound: object): Log => {
    const at = (level: Level) => (fields: object, event: string) => {
      if (LEVELS.indexOf(level) < threshold) return;
      const line = { time: new Date().toISOString(), level, event, ...bound, ...fields };
      write(`${JSON.stringify(line, redact)}\n`);
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

function redact(key: string, value: unknown): unknown {
  if (key !== '' && SECRET.test(key) && typeof value === 'string') return '[redacted]';
  if (value instanceof Error)
    return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
  return value;
}
