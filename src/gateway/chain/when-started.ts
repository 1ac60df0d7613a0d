// A server that is starting has not listed its names yet. A step that goes by names waits for it, as long as the call itself would.
import { cancelledBy } from '../../kernel/base/cancelled-error.ts';
import { rejectOnAbort } from '../../kernel/base/timing.ts';
import type { OriginOf, StepExchange } from '../../kernel/step.ts';

/** Undefined if there is nothing to wait for. Rejects as soon as the call is cancelled. */
export function whenStarted(
  area: 'tools' | 'prompts',
  name: string,
  { client, cancellation, signal }: Pick<StepExchange, 'client' | 'cancellation' | 'signal'>,
  originOf: OriginOf | undefined,
): Promise<void> | undefined {
  const starting = originOf?.(area, name)?.starting?.(client);
  if (!starting) return undefined;
  const cancelled = cancellation ?? signal;
  return rejectOnAbort(starting, cancelled, () => cancelledBy(cancelled));
}
