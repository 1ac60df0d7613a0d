// The recommended order of the built-in steps, outermost first, with the reason for each place. A chain runs in the order that
// its author gives.
import type { Step } from '../../../protocol/step.ts';
import { approve } from '../steps/approve/approve.ts';
import { cache } from '../steps/results/cache.ts';
import { circuitBreaker } from '../steps/failures/circuit-breaker.ts';
import { defaults } from '../steps/arguments/defaults.ts';
import { describe } from '../steps/names/describe.ts';
import { filter } from '../steps/filter/filter.ts';
import { fixed } from '../steps/arguments/fixed.ts';
import { log } from '../steps/log/log.ts';
import { prefix } from '../steps/names/prefix.ts';
import { redact } from '../steps/redact/redact.ts';
import { rename } from '../steps/names/rename.ts';
import { retry } from '../steps/failures/retry.ts';
import { sizeLimit } from '../steps/results/size-limit.ts';
import { timeout } from '../steps/failures/timeout.ts';

/** Checks options from a configuration and creates the step. */
export type StepFactory = (options?: unknown) => Step;

export interface BuiltInStep {
  name: string;
  create: StepFactory;
  why: string;
}

export const STEP_ORDER: readonly BuiltInStep[] = [
  builtIn(log, 'sees all that clients ask, what is refused included, in the words and the time that they see'),
  builtIn(redact, 'whatever the steps further in let pass, make up or keep, leaves without secrets'),
  builtIn(sizeLimit, 'measures what clients would get; inside redact, which then has less to read'),
  builtIn(prefix, 'of the steps that change names the outermost, so that it comes first in the name'),
  builtIn(rename, 'speaks of names as the servers have them, like all rules further in'),
  builtIn(describe, 'keeps what it says of a tool whatever the tool is called outside'),
  builtIn(
    filter,
    'nothing further in is asked about what clients may not have; inside rename, so that no new name avoids it',
  ),
  builtIn(defaults, 'before fixed, which wins'),
  builtIn(fixed, 'the last word on arguments'),
  builtIn(approve, 'shows the arguments as the server will get them; outside whatever repeats or counts the time'),
  builtIn(cache, 'inside filter, so that what is kept for all is filtered for each; an answer at hand needs no server'),
  builtIn(retry, 'every attempt counts for the circuit and has its own time'),
  builtIn(circuitBreaker, 'inside retry: an open circuit ends the attempts'),
  builtIn(timeout, 'innermost: counts the time of the server alone'),
];

/** For the configuration: `"log"` or `{ "filter": { … } }`. Undefined for an unknown name. */
export function findBuiltIn(name: string): StepFactory | undefined {
  return STEP_ORDER.find((one) => one.name === name)?.create;
}

/** Every factory has the name of its step, and checks its options. */
function builtIn(create: (options: never) => Step, why: string): BuiltInStep {
  return { name: create.name, create: create as StepFactory, why };
}
