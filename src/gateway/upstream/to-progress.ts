// Progress as a peer reports it, with the token of the request it is for. The draft dialect has a notification of its own.
import type { Progress } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { readProgress } from '../dialect/progress.ts';

/** `progress` is undefined where the notification holds no valid progress. */
export function parseProgress(method: string, params: JsonObject): { token: unknown; progress: Progress | undefined } {
  if (method === 'progress') {
    const { id, percent, message } = params;
    return { token: id, progress: readProgress({ progress: percent, total: 100, message }) };
  }
  const { progressToken, ...told } = params;
  return { token: progressToken, progress: readProgress(told) };
}
