// Loads the configuration of a command and prints all of its problems to stderr at once.
import { existsSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { ParleyConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import type { LoadOptions, LoadedConfig } from '../../config/read/load-config.ts';
import { sortProblems, formatProblem } from '../../config/check/config-problems.ts';
import type { ConfigProblem } from '../../config/check/config-problems.ts';
import { readEnvironment } from '../environment.ts';
import { suggestConfigs } from '../welcome/client-files.ts';
import { programName } from '../welcome/program.ts';
import type { Printer } from '../terminal/print.ts';

export interface CommandConfig extends LoadedConfig {
  path: string;
  config: ParleyConfig;
}

interface CommandConfigOptions {
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
    own,
    share,
    onWarning,
    missing = 'no configuration was named, and none was found here.',
  }: CommandConfigOptions = {},
): Promise<CommandConfig | undefined> {
  const loaded = loadConfig(named, { ...readEnvironment(), own, share, runsCommands: true });
  const { path, config } = loaded;
  if (path === undefined && named === undefined) {
    print.problem(missing);
    for (const line of toMissingLines()) print.note(line);
    return undefined;
  }
  const isUsable = path !== undefined && config !== undefined;
  if (!isUsable) {
    await printProblems(loaded, print);
    return undefined;
  }
  for (const line of toProblemLines(loaded)) (onWarning ?? ((told) => print.note(told)))(line);
  return { ...loaded, path, config };
}

/** Prints all that `check` finds, so that a file is corrected only once. False if there is no error. */
export async function printProblems(loaded: LoadedConfig, print: Printer): Promise<boolean> {
  const { checkParts } = await import('../../config/check/check-parts.ts');
  const problems = sortProblems([...loaded.problems, ...(await checkParts(loaded))]);
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
  return problems.map((problem) => formatProblem(problem, displayPath(path)));
}

/** The path as the user would write it. */
export function displayPath(path: string | undefined): string {
  if (path === undefined) return 'The configuration';
  const near = relative(process.cwd(), path);
  return near === '' || near.startsWith(`..${sep}`) ? path : near;
}
