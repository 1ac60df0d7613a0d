// Whether the steps of a configuration are there, and take the options that they are given. Files are not loaded for it.
import { ORDER, byName } from '../gateway/middleware/order.ts';
import type { StepFactory } from '../gateway/middleware/order.ts';
import { GatewayError } from '../shared/errors.ts';
import type { Path } from './places.ts';
import type { Problems } from './problems.ts';
import type { ConfigInput } from './schema.ts';
import { isStepFile, toParts } from './step-form.ts';
import { didYouMean } from './suggest.ts';

export function checkSteps({ steps = [] }: ConfigInput, problems: Problems): void {
  steps.forEach((written, index) => {
    if (written === undefined) return; // it did not fit its shape, which has been reported
    const path = ['steps', index];
    if (typeof written !== 'string' && Object.keys(written).length !== 1) {
      problems.error(path, 'one step at a time', 'Write { "name": { …options } }, and the next step after it.');
    } else checkStep(written, path, problems);
  });
}

function checkStep(written: string | Record<string, unknown>, path: Path, problems: Problems): void {
  const { name, options } = toParts(written);
  const at = typeof written === 'string' ? path : [...path, name];
  if (typeof options !== 'object' || Array.isArray(options)) {
    problems.error(at, 'options are an object', `Write { "${name}": { … } }.`);
    return;
  }
  if (isStepFile(name)) return;
  const create = byName(name);
  if (create) return checkOptions(create, options, { path: at, problems });
  const names = ORDER.map((step) => step.name);
  const hint = `${didYouMean(name, names)} The path of a step of your own starts with "./".`;
  problems.ofKey(at, { message: `no step is called "${name}"`, hint });
}

/** Making it tells; nothing is started by that. */
function checkOptions(
  create: StepFactory,
  options: unknown,
  { path, problems }: { path: Path; problems: Problems },
): void {
  try {
    create(options);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    const { option, reason } = thrown.details;
    const inside = String(option).split('.').slice(1); // `filter.tools.allow`, as it stands in the file
    problems.error([...path, ...inside], String(reason), 'docs/middleware.md has the options of every step.');
  }
}
