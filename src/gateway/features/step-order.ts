// All built-in steps by name, in the recommended order, outermost first, with the reason for each place. A chain runs in the
// order that its author gives.
import type { Step } from '../../kernel/step.ts';
import { approve } from './approve/approve.ts';
import { cache } from './cache/cache.ts';
import { circuitBreaker } from './circuit-breaker/circuit-breaker.ts';
import { defaults, fixed } from './arguments/tool-arguments.ts';
import { describe, prefix, rename } from './names/rename.ts';
import { discover } from './discover/discover.ts';
import { filter } from './filter/filter.ts';
import { log } from './log/log.ts';
import { redact } from './redact/redact.ts';
import { retry } from './retry/retry.ts';
import { screen } from './screen/screen.ts';
import { sizeLimit } from './size-limit/size-limit.ts';
import { timeout } from './timeout/timeout.ts';

/** Checks options from a configuration and creates the step. */
export type StepFactory = (options?: unknown) => Step;

interface BuiltInStep {
  name: string;
  create: StepFactory;
  why: string;
}

export const STEP_ORDER: readonly BuiltInStep[] = [
  builtIn(discover, 'runs before all others wherever it stands, so that they see the tool that call_tool calls'),
  builtIn(log, 'sees every request of clients, including refused ones, with the names and durations that clients see'),
  builtIn(redact, 'removes secrets from everything that inner steps pass on, create or cache'),
  builtIn(screen, 'sees what models would read; inside redact, so that a person decides about the whole text'),
  builtIn(sizeLimit, 'measures what clients would get; inside redact, which then has less to scan'),
  builtIn(prefix, 'the outermost step that changes names, so that the prefix comes first'),
  builtIn(rename, 'uses the names of the servers, like all inner rules'),
  builtIn(describe, 'its descriptions stay with a tool that is renamed outside'),
  builtIn(filter, 'inner steps never see what clients may not have; inside rename, so that a new name cannot avoid it'),
  builtIn(defaults, 'before fixed, which wins'),
  builtIn(fixed, 'decides last about arguments'),
  builtIn(approve, 'shows the arguments as the server will get them; outside retry and timeout'),
  builtIn(cache, 'inside filter, so that a shared entry is filtered for each client; a cached answer needs no server'),
  builtIn(retry, 'every attempt counts for the circuit and has its own timeout'),
  builtIn(circuitBreaker, 'inside retry: an open circuit ends the attempts'),
  builtIn(timeout, 'innermost: measures only the time of the server'),
];

/** For the configuration: `"log"` or `{ "filter": { … } }`. Undefined for an unknown name. */
export function findBuiltIn(name: string): StepFactory | undefined {
  return STEP_ORDER.find((one) => one.name === name)?.create;
}

/** Every factory has the name of its step, and checks its options. */
function builtIn(create: (options: never) => Step, why: string): BuiltInStep {
  return { name: create.name, create: create as StepFactory, why };
}
