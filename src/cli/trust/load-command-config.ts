// Loads the configuration of a command, with the rules of the user's own configuration, and only if it is trusted. Prints all of its
// problems to stderr at once.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BuildOptions } from '../../config/apply/build-gateway.ts';
import type { CheckPartsOptions } from '../../config/check/check-parts.ts';
import { sortProblems, formatProblem } from '../../config/check/config-problems.ts';
import type { ConfigProblem } from '../../config/check/config-problems.ts';
import type { ParleyConfig } from '../../config/config.ts';
import { isStepFile, splitStep } from '../../config/normalize-step.ts';
import { findConfig } from '../../config/read/find-config.ts';
import type { Environment } from '../../config/read/find-config.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import type { LoadOptions, LoadedConfig } from '../../config/read/load-config.ts';
import { loadSeveral, partsOf } from '../../config/read/load-several.ts';
import { userFolder } from '../../kernel/secrets/own-folders.ts';
import { displayPath, readEnvironment } from '../environment.ts';
import { programName } from '../program.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { suggestConfigs } from './client-files.ts';
import { isTrustedNow } from './judge-trust.ts';
import { StartChecks } from './start-checks.ts';
import { requireTrust } from './require-trust.ts';

interface OwnRules {
  ownSteps: ParleyConfig['steps'];
  ownRules?: ParleyConfig['rules'] | undefined;
  ownTrust?: LoadOptions['ownTrust'];
  /** The user's own configuration, if it cannot be read: then its rules are unknown. */
  unusable?: string | undefined;
}

export interface CommandConfig extends LoadedConfig {
  path: string;
  config: ParleyConfig;
  /** The rules of the user's own configuration, which come first. */
  ownRules: OwnRules;
  /** Whether the files are trusted as they are at this moment. */
  isStillTrusted: () => boolean;
  /** Throws if the command of a server runs code that is not trusted as it is at this moment. */
  checkStart: BuildOptions['checkStart'];
  startChecks: StartChecks;
}

interface CommandConfigOptions {
  /** Further files, which bring servers. */
  besides?: readonly string[] | undefined;
  own?: LoadOptions['own'];
  share?: LoadOptions['share'];
  /** Receives warnings about a usable file. Default: print them. */
  onWarning?: ((line: string) => void) | undefined;
  /** Printed if no file was named or found. */
  missing?: string;
}

/** Undefined if there is no usable file; the reason has been printed. */
export async function loadCommandConfig(
  named: string | undefined,
  print: Printer,
  {
    besides = [],
    own,
    share,
    onWarning,
    missing = 'no configuration was named, and none was found here.',
  }: CommandConfigOptions = {},
): Promise<CommandConfig | undefined> {
  const environment = readEnvironment();
  const { unusable, ...ownRules } = readOwnRules(named, environment);
  const options = { ...environment, own, share, ...ownRules, runsCommands: true };
  const loaded = named === undefined ? loadConfig(named, options) : loadSeveral([named, ...besides], options);
  const { path, config } = loaded;
  if (path === undefined && named === undefined) {
    print.problem(missing);
    for (const line of toMissingLines()) print.note(line);
    return undefined;
  }
  const isUsable = path !== undefined && config !== undefined;
  if (!isUsable) {
    const runsSteps = path !== undefined && isTrustedNow(path, { ...environment, ...ownRules });
    for (const part of partsOf(loaded)) await printProblems(part, print, { runsSteps });
    return undefined;
  }
  if (unusable !== undefined) {
    print.problem(
      `your own rules hold for this file, too, and cannot be read. Correct ${unusable}: ${programName()} check ${unusable}`,
    );
    return undefined;
  }
  for (const part of partsOf(loaded)) if (!(await requireTrust(part, print))) return undefined;
  const startChecks = new StartChecks(partsOf(loaded));
  const isStillTrusted = (): boolean => isTrustedNow(path, { ...environment, ...ownRules });
  for (const line of toProblemLines(loaded)) (onWarning ?? ((told) => print.note(told)))(line);
  return { ...loaded, path, config, ownRules, isStillTrusted, startChecks, checkStart: startChecks.check };
}

/** Built-in steps of the user's own configuration that forbid, ask or hide. Others change names or speed, which is the business of each file. */
const RULES = new Set(['approve', 'filter', 'fixed', 'redact']);

/** The rules of the user's own configuration hold for every other one, too: they are added outside of its steps, never replaced by them. */
function readOwnRules(named: string | undefined, environment: Environment): OwnRules {
  const folder = userFolder(environment);
  const { path: served } = findConfig(named, environment);
  const { path: own } = findConfig(folder, environment);
  if (own === undefined || served === undefined || dirname(served) === folder) return { ownSteps: [] };
  const { config } = loadConfig(own, environment);
  if (!config) return { ownSteps: [], unusable: own };
  const ownSteps = config.steps.filter((form) => isRule(splitStep(form).name));
  return { ownSteps, ownRules: config.rules, ownTrust: config.ask?.trust };
}

/** A step from a file of the user's own may be a rule. */
function isRule(name: string): boolean {
  return RULES.has(name) || isStepFile(name);
}

/** Prints all that `check` finds, so that a file is corrected only once. False if there is no error. */
export async function printProblems(
  loaded: LoadedConfig,
  print: Printer,
  { runsSteps = false }: CheckPartsOptions = {},
): Promise<boolean> {
  const { checkParts } = await import('../../config/check/check-parts.ts');
  const problems = sortProblems([...loaded.problems, ...(await checkParts(loaded, { runsSteps }))]);
  if (problems.every(({ level }) => level !== 'error')) return false;
  const { path } = loaded;
  for (const line of toProblemLines({ path, problems })) print.note(line);
  // The problems have already said that the file is missing.
  if (path !== undefined && existsSync(path)) {
    print.problem(
      `${displayPath(path)} cannot be used. Correct it, then run: ${programName()} check ${displayPath(path)}`,
    );
  }
  return true;
}

/** Advice if there is no configuration. */
export function toMissingLines(): string[] {
  return suggestConfigs(readEnvironment());
}

export function toProblemLines({ path, problems }: { path: string | undefined; problems: ConfigProblem[] }): string[] {
  return problems.map((problem) => formatProblem(problem, displayPath(problem.file ?? path)));
}
