// A log that collects its lines for a test.
import { createLog } from '../shared/log.ts';
import type { Log } from '../shared/log.ts';

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  event: string;
  [field: string]: unknown;
}

export function collectLog(): { log: Log; logged: LogLine[] } {
  const logged: LogLine[] = [];
  const log = createLog({ level: 'debug', write: (line) => logged.push(JSON.parse(line) as LogLine) });
  return { log, logged };
}
