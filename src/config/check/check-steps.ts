// Checks that the steps of a configuration exist and accept their options. Does not load files.
import { STEP_ORDER, findBuiltIn } from '../../gateway/features/step-order.ts';
import type { StepFactory } from '../../gateway/features/step-order.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { toPathId } from './config-problems.ts';
import type { ConfigPath, ConfigProblems } from './config-problems.ts';
import type { ConfigInput } from './schema.ts';
import { isStepFile, splitStep } from '../normalize-step.ts';
import { didYouMean } from '../../kernel/text/suggest.ts';

interface StepCheck {
  problems: ConfigProblems;
  /** Paths of text that came from variables: there, text may be a number. */
  filled: ReadonlySet<string>;
}

export function checkSteps({ steps = [] }: ConfigInput, checking: StepCheck): void {
  const { problems } = checking;
  steps.forEach((written, index) => {
    if (written === undefined) return; // it did not match its shape, which has been reported
    const path = ['steps', index];
    if (typeof written !== 'string' && Object.keys(written).length !== 1) {
      problems.error(path, 'one step at a time', 'Write { "name": { …options } }, and the next step after it.');
    } else checkStep(written, path, checking);
  });
}

function checkStep(written: string | Record<string, unknown>, path: ConfigPath, checking: StepCheck): void {
  const { problems } = checking;
  const { name, options } = splitStep(written);
  const at = typeof written === 'string' ? path : [...path, name];
  if (typeof options !== 'object' || Array.isArray(options)) {
    problems.error(at, 'options are an object', `Write { "${name}": { … } }.`);
    return;
  }
  if (isStepFile(name)) return;
  const create = findBuiltIn(name);
  if (create) return checkOptions(create, options, { path: at, ...checking });
  const names = STEP_ORDER.map((step) => step.name);
  const hint = `${didYouMean(name, names)} The path of a step of your own starts with "./".`;
  problems.ofKey(at, { message: `no step is called "${name}"`, hint });
}

/** Creates the step to check its options; this starts nothing. */
function checkOptions(create: StepFactory, options: unknown, check: StepCheck & { path: ConfigPath }): void {
  const { path, problems } = check;
  const quoted = problemIn(() => create(withMarks(options, path, check.filled)));
  const found = quoted && NOT_TEXT.test(quoted.reason) ? quoted : problemIn(() => create(options));
  if (!found) return;
  const { inside, reason } = found;
  const isQuoted = found === quoted && !problemIn(() => create(options));
  const hint = isQuoted ? 'Write it without quotes.' : 'docs/middleware.md has the options of every step.';
  problems.error([...path, ...inside], isQuoted ? `${reason}, not text` : reason, hint);
}

const NOT_TEXT = /^must be a (?:number|boolean)/;

function problemIn(create: () => unknown): { inside: string[]; reason: string } | undefined {
  try {
    create();
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    const { option, reason } = thrown.details;
    return { inside: String(option).split('.').slice(1), reason: String(reason) }; // `filter.tools.allow`, as written in the file
  }
}

/** Steps accept "5" for 5, as a variable holds only text. Marks such text in the file itself, so that steps refuse it. */
function withMarks(value: unknown, path: ConfigPath, filled: ReadonlySet<string>): unknown {
  const isFilled = filled.has(toPathId(path)) || filled.has(toPathId(path.slice(0, -1)));
  if (typeof value === 'string') return !isFilled && /^(?:\d+|true|false)$/.test(value) ? `${value} ` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withMarks(one, [...path, key], filled)]));
}
