// The run of the body that a drive goes on with: the one that waits in memory, or a new one over the journal.
import { Run } from '../../engine/run.ts';
import type { Trespass } from '../../engine/tracer.ts';
import { fold } from '../../fold.ts';
import type { DriveInput } from './drive-input.ts';

export function toRun(
  { setup, flow, header, prefix, entries, frame, next, incoming = [] }: DriveInput,
  { onStall, onFailing }: { onStall: () => void; onFailing: () => void },
): Run {
  const now = {
    ...{ incoming, next, now: setup.clock.now(), checks: setup.checks, onStall, onFailing },
    onTrespass: (trespass: Trespass) => setup.log.warn({ tool: flow.name, ...trespass }, 'flow.unjournaled'),
    ...{ unasked: header.unasked, deadline: header.deadline, isPatient: !setup.lasting },
  };
  const waiting = prefix ? undefined : frame?.take();
  if (!waiting) {
    const folded = fold(prefix ? [...entries, ...prefix] : entries);
    return new Run({ ...now, flow, folded, sessionId: header.id, locale: header.locale, virtual: setup.virtual });
  }
  waiting.resume(now);
  return waiting;
}
