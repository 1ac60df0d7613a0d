// Reads and writes the notifications that the handshake and the stateless era share: progress, log messages, and changes of lists, resources and tasks.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { LogEntry, Progress } from '../../kernel/exchange.ts';
import { toNotification } from '../../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../../kernel/message.ts';
import { WIRE_NOTIFICATIONS } from '../../kernel/methods.ts';
import type { Change, TaskState } from '../../kernel/target.ts';
import { fromTask } from './handshake/results.ts';
import { withoutEnvelope } from './meta.ts';

export const PROGRESS = 'notifications/progress';

/** Undefined if it is not valid progress. Keeps fields that the protocol does not define. */
export function readProgress({ progress, total, message, ...rest }: JsonObject): Progress | undefined {
  if (typeof progress !== 'number' || Number.isNaN(progress)) return undefined;
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
    ...withoutEnvelope(rest),
  };
}

export function writeProgress(progressToken: string | number, progress: Progress): NotificationMessage {
  const { total, message, ...rest } = progress;
  return toNotification(PROGRESS, {
    progressToken,
    ...rest,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message }),
  });
}

/** RFC 5424 */
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

/** It belongs to a stream, whose owner reads it. */
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** A server's notification as a neutral change; undefined if it concerns a single request or stream, or is malformed. */
export function readChange(method: string, given: JsonObject): Change | undefined {
  const params = withoutEnvelope(given);
  switch (method) {
    case 'notifications/tools/list_changed':
      return withMore({ kind: 'tools' }, params);
    case 'notifications/prompts/list_changed':
      return withMore({ kind: 'prompts' }, params);
    case 'notifications/resources/list_changed':
      return withMore({ kind: 'resources' }, params);
    case 'notifications/resources/updated': {
      const { uri, ...more } = params;
      return typeof uri === 'string' ? withMore({ kind: 'resource', uri }, more) : undefined;
    }
    case 'notifications/message':
      return { kind: 'log', entry: params as unknown as LogEntry };
    case 'notifications/tasks/status':
      return { kind: 'task', task: fromTask(params), principal: '' };
    case 'notifications/tasks':
      return { kind: 'task', task: params as unknown as TaskState, principal: '' };
    case 'notifications/elicitation/complete': {
      const { elicitationId, ...more } = params;
      return withMore({ kind: 'elicited', elicitationId: String(elicitationId) }, more);
    }
    default:
      return method === ACKNOWLEDGED || WIRE_NOTIFICATIONS.has(method)
        ? undefined
        : { kind: 'notification', method, ...(hasAny(params) && { params }) };
  }
}

function withMore(change: Change, more: JsonObject): Change {
  return hasAny(more) ? { ...change, more } : change;
}

function hasAny(object: JsonObject): boolean {
  return Object.keys(object).length > 0;
}

/** Whether a changed resource is the subscribed one or lies below it: a server may report either. */
export function isWithin(uri: string, whole: string): boolean {
  if (uri === whole) return true;
  return uri.startsWith(whole) && (whole.endsWith('/') || /[/?#]/.test(uri[whole.length]!));
}

export function isWithinAny(uri: string, wholes: Set<string>): boolean {
  if (wholes.has(uri)) return true;
  for (const whole of wholes) if (isWithin(uri, whole)) return true;
  return false;
}
