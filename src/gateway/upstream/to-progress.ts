// Progress as a server tells it, with the request it is for. The draft dialect has a notification of its own.
import type { Progress } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';

/** `progress` is undefined when it was none. */
export function toProgress(method: string, params: JsonObject): { token: unknown; progress: Progress | undefined } {
  if (method === 'progress') {
    const { id, percent, message } = params;
    return { token: id, progress: checked(percent, 100, message) };
  }
  const { progressToken, progress, total, message } = params;
  return { token: progressToken, progress: checked(progress, total, message) };
}

function checked(progress: unknown, total: unknown, message: unknown): Progress | undefined {
  if (typeof progress !== 'number' || !Number.isFinite(progress)) return undefined;
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  };
}
