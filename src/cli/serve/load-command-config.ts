// The configuration of a command: found, checked, and its problems told. What is wrong goes to stderr, all of it at once.
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
  /** Takes what is doubtful about a file that can be used. Default: it is printed. */
  onWarning?: ((line: string) => void) | undefined;
  /** What to say where no file was named and none is here. */
  missing?: string;
}

/** Undefined when there is none that can be used; the reasons have been told. */
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
  const loaded = loadConfig(named, { ...readEnvironment(), own, share });
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

/** All that `check` finds, so that nobody corrects a file twice. False where it finds no error. */
export async function printProblems(loaded: LoadedConfig, print: Printer): Promise<boolean> {
  const { checkParts } = await import('../../config/check/check-parts.ts');
  const problems = sortProblems([...loaded.problems, ...(await checkParts(loaded))]);
  if (problems.every(({ level }) => level !== 'error')) return false;
  const { path } = loaded;
  for (const line of toProblemLines({ path, problems })) print.note(line);
  // Of a file that is not there all has been said.
  if (path !== undefined && existsSync(path)) {
    print.problem(
      `${displayPath(path)} cannot be used. Correct it, then run: ${programName()} check ${displayPath(path)}`,
    );
  }
  return true;
}

/** What to do where no configuration is. */
export function toMissingLines(): string[] {
  return suggestConfigs(readEnvironment());
}

export function toProblemLines({ path, problems }: { path: string | undefined; problems: ConfigProblem[] }): string[] {
  return problems.map((problem) => formatProblem(problem, displayPath(path)));
}

/** As the user would write it. */
export function displayPath(path: string | undefined): string {
  if (path === undefined) return 'The configuration';
  const near = relative(process.cwd(), path);
  return near === '' || near.startsWith(`..${sep}`) ? path : near;
}
