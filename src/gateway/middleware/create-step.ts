// A step as a configuration names it: `"log"`, `{ "filter": { … } }`, or `"./my-step.ts"`.
import { isAbsolute, resolve } from 'node:path';
import { isObject } from '../../protocol/message.ts';
import type { Step } from '../../protocol/step.ts';
import { byName } from './order.ts';
import { badOption } from './step-options.ts';
import { watchStep } from './watch-step.ts';
import type { WatchStepOptions, WatchedStep } from './watch-step.ts';

export type StepEntry = string | { [name: string]: unknown };

export interface CreateStepOptions extends WatchStepOptions {
  /** Where paths begin: the folder of the configuration. */
  folder: string;
}

export async function createStep(entry: StepEntry, options: CreateStepOptions): Promise<WatchedStep> {
  if (typeof entry === 'string' && isPath(entry)) return watchStep(resolve(options.folder, entry), options);
  return { step: toBuiltIn(entry), close: () => {} };
}

export function isPath(entry: string): boolean {
  return /^\.{1,2}[\\/]/.test(entry) || isAbsolute(entry) || /\.[cm]?[jt]s$/.test(entry);
}

/** Also tells whether an entry is right, without anything being started. */
export function toBuiltIn(entry: StepEntry): Step {
  const [name, given] = typeof entry === 'string' ? [entry, {}] : onlyEntry(entry);
  const create = byName.get(name) as ((options: unknown) => Step) | undefined;
  if (!create)
    throw badOption(`steps: ${JSON.stringify(name)}`, `is no step; there are ${[...byName.keys()].join(', ')}`);
  return create(given);
}

function onlyEntry(entry: object): [string, unknown] {
  const [first, ...others] = isObject(entry) ? Object.entries(entry) : [];
  if (!first || others.length > 0) throw badOption('steps', 'a step is a name, a path, or { "name": { options } }');
  return first;
}
