// Resumes the body that waits in memory, or starts a new run over the journal.
import { BodyRun } from '../../engine/body-run.ts';
import { createRunInput } from '../../engine/run-input.ts';
import type { ResumeInput } from '../../engine/run-input.ts';
import { fold } from '../../fold.ts';
import type { TurnInput } from './turn-input.ts';

export function resumeOrReplay(
  { context, flow, header, prefix, entries, frame, next, incoming = [] }: TurnInput,
  { onStall, onFailing }: { onStall: () => void; onFailing: () => void },
): BodyRun {
  const now: ResumeInput = {
    incoming,
    next,
    now: context.clock.now(),
    checks: context.checks,
    onStall,
    onFailing,
    onUnjournaled: (access) => context.log.warn({ tool: flow.name, ...access }, 'flow.unjournaled'),
    unasked: header.unasked,
    deadline: header.deadline,
    isPatient: !context.lasting,
  };
  const waiting = prefix ? undefined : frame?.take();
  if (!waiting) {
    const folded = fold(prefix ? [...entries, ...prefix] : entries);
    const { id: sessionId, locale } = header;
    return new BodyRun(createRunInput({ flow, folded, sessionId, locale, virtual: context.virtual }, now));
  }
  waiting.resume(now);
  return waiting;
}
