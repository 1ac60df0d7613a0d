// Reads and writes progress notifications.
import type { Progress } from '../../protocol/exchange.ts';
import type { JsonObject, NotificationMessage } from '../../protocol/message.ts';
import { toNotification } from '../../protocol/message.ts';
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
