// The rules of the user's own configuration hold for every other configuration, too: they are added outside of its steps, never replaced by them.
import { dirname } from 'node:path';
import { loadConfig } from '../../config/read/load-config.ts';
import type { ParleyConfig } from '../../config/config.ts';
import { isStepFile, splitStep } from '../../config/normalize-step.ts';
import { findConfig } from '../../config/read/find-config.ts';
import { userFolder } from '../../shared/secrets/own-folders.ts';
import type { Environment } from '../../config/read/find-config.ts';

/** Built-in steps that forbid, ask or hide. Others change names or speed, which is the business of each file. */
const RULES = new Set(['approve', 'filter', 'fixed', 'redact']);

export interface OwnRules {
  ownSteps: ParleyConfig['steps'];
  ownRules?: ParleyConfig['rules'] | undefined;
  /** The user's own configuration, if it cannot be read: then its rules are unknown. */
  unusable?: string | undefined;
}

export function readOwnRules(named: string | undefined, environment: Environment): OwnRules {
  const folder = userFolder(environment);
  const { path: served } = findConfig(named, environment);
  const { path: own } = findConfig(folder, environment);
  if (own === undefined || served === undefined || dirname(served) === folder) return { ownSteps: [] };
  const { config } = loadConfig(own, environment);
  if (!config) return { ownSteps: [], unusable: own };
  return { ownSteps: config.steps.filter((form) => isRule(splitStep(form).name)), ownRules: config.rules };
}

/** A step from a file of the user's own may be a rule. */
function isRule(name: string): boolean {
  return RULES.has(name) || isStepFile(name);
}
