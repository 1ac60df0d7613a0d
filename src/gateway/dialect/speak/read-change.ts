// Converts a server's notification to a neutral change, for the handshake and the stateless era.
import type { LogEntry } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { Change, TaskState } from '../../../protocol/target.ts';
import { fromTask } from '../handshake/results.ts';
import { withoutEnvelope } from '../meta.ts';

/** These belong to a request or a stream, whose owner reads them. */
const PROTOCOL = new Set([
  'notifications/cancelled',
  'notifications/progress',
  'notifications/subscriptions/acknowledged',
  'notifications/initialized',
]);

/** Undefined if it concerns a single request or stream, or is malformed. */
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
      return PROTOCOL.has(method) ? undefined : { kind: 'notification', method, ...(hasAny(params) && { params }) };
  }
}

function withMore(change: Change, more: JsonObject): Change {
  return hasAny(more) ? { ...change, more } : change;
}

function hasAny(object: JsonObject): boolean {
  return Object.keys(object).length > 0;
}
