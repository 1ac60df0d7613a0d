// Converts a task of 2025-11-25 to the neutral form.
import type { JsonObject } from '../../../protocol/message.ts';
import type { TaskState } from '../../../protocol/target.ts';

export function fromTask(task: JsonObject): TaskState {
  const { ttl, pollInterval, ...rest } = task;
  return {
    ...(rest as unknown as TaskState),
    ttlMs: typeof ttl === 'number' ? ttl : null,
    ...(typeof pollInterval === 'number' && { pollIntervalMs: pollInterval }),
  };
}
