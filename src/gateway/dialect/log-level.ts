// MCP's eight log levels (RFC 5424) and the encoding of log messages.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { LogEntry } from '../../protocol/exchange.ts';
import type { NotificationMessage } from '../../protocol/message.ts';
import { toNotification } from '../../protocol/message.ts';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export function isLogLevel(value: unknown): value is LoggingLevel {
  return typeof value === 'string' && LEVELS.includes(value);
}

export function isAtLeast(level: LoggingLevel, threshold: LoggingLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(threshold);
}

/** Keeps fields that the protocol does not define. */
export function writeLog({ level, logger, data, ...rest }: LogEntry): NotificationMessage {
  return toNotification('notifications/message', { level, ...(logger !== undefined && { logger }), data, ...rest });
}
