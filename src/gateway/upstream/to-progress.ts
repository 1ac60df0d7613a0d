// Parses a progress notification and the token of its request. The draft dialect has its own notification.
import type { Progress } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { readProgress } from '../dialect/progress.ts';

/** `progress` is undefined if the notification is invalid. */
export function parseProgress(method: string, params: JsonObject): { token: unknown; progress: Progress | undefined } {
  if (method === 'progress') {
    const { id, percent, message } = params;
    return { token: id, progress: readProgress({ progress: percent, total: 100, message }) };
  }
  const { progressToken, ...told } = params;
  return { token: progressToken, progress: readProgress(told) };
}
