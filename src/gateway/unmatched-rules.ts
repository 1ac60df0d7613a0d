// Names in rules that no server has. A rule that is misspelled does nothing, which nobody notices; so the log says it, once.
import type { Step } from '../protocol/step.ts';
import type { Log } from '../shared/log.ts';

/** `names`: all that tools are called by. Words that were reported are added to `reported`. */
export function reportUnmatched(
  steps: readonly Step[],
  names: ReadonlySet<string>,
  { log, reported }: { log: Log; reported: Set<string> },
): void {
  for (const { name: step, toolWords = [] } of steps) {
    for (const rule of toolWords) {
      const key = JSON.stringify([step, rule]);
      if (names.has(rule) || reported.has(key)) continue;
      reported.add(key);
      log.warn({ step, rule, reason: 'no tool of any server has this name' }, 'rule.unmatched');
    }
  }
}
