// The eight levels of RFC 5424, as MCP names them.
import type { LoggingLevel } from '@modelcontextprotocol/client';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export function isLogLevel(value: unknown): value is LoggingLevel {
  return typeof value === 'string' && LEVELS.includes(value);
}

export function isAtLeast(level: LoggingLevel, threshold: LoggingLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(threshold);
}
