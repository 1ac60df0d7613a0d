// The run of the body that a drive goes on with: the one that waits in memory, or a new one over the journal.
import { Run } from '../../engine/run.ts';
import { toRunInput } from '../../engine/run-input.ts';
import type { Resumption } from '../../engine/run-input.ts';
import { fold } from '../../fold.ts';
import type { DriveInput } from './drive-input.ts';

export function toRun(
  { setup, flow, header, prefix, entries, frame, next, incoming = [] }: DriveInput,
  { onStall, onFailing }: { onStall: () => void; onFailing: () => void },
): Run {
  const now: Resumption = {
    incoming,
    next,
    now: setup.clock.now(),
    checks: setup.checks,
    onStall,
    onFailing,
    onTrespass: (trespass) => setup.log.warn({ tool: flow.name, ...trespass }, 'flow.unjournaled'),
    unasked: header.unasked,
    deadline: header.deadline,
    isPatient: !setup.lasting,
  };
  const waiting = prefix ? undefined : frame?.take();
  if (!waiting) {
    const folded = fold(prefix ? [...entries, ...prefix] : entries);
    const { id: sessionId, locale } = header;
    return new Run(toRunInput({ flow, folded, sessionId, locale, virtual: setup.virtual }, now));
  }
  waiting.resume(now);
  return waiting;
}
