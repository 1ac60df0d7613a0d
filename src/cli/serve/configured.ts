// The configuration of a command: found, checked, and its problems told. What is wrong goes to stderr, all of it at once.
import { existsSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { ParleyConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/read/load.ts';
import type { LoadOptions, LoadedConfig } from '../../config/read/load.ts';
import { inOrder, toLine } from '../../config/check/problems.ts';
import type { Problem } from '../../config/check/problems.ts';
import { surroundings } from '../around.ts';
import { firstLines } from '../first/client-files.ts';
import { program } from '../first/program.ts';
import type { Printer } from '../terminal/print.ts';

export interface Configured extends LoadedConfig {
  path: string;
  config: ParleyConfig;
}

interface ConfiguredOptions {
  own?: LoadOptions['own'];
  share?: LoadOptions['share'];
  /** Takes what is doubtful about a file that can be used. Default: it is printed. */
  onWarning?: ((line: string) => void) | undefined;
  /** What to say where no file was named and none is here. */
  missing?: string;
}

/** Undefined when there is none that can be used; the reasons have been told. */
export async function configured(
  named: string | undefined,
  print: Printer,
  { own, share, onWarning, missing = 'no configuration was named, and none was found here.' }: ConfiguredOptions = {},
): Promise<Configured | undefined> {
  const loaded = loadConfig(named, { ...surroundings(), own, share });
  const { path, config } = loaded;
  if (path === undefined && named === undefined) {
    print.problem(missing);
    for (const line of missingLines()) print.note(line);
    return undefined;
  }
  const isUsable = path !== undefined && config !== undefined;
  if (!isUsable) {
    await tellUnusable(loaded, print);
    return undefined;
  }
  for (const line of problemLines(loaded)) (onWarning ?? ((told) => print.note(told)))(line);
  return { ...loaded, path, config };
}

/** All that `check` finds, so that nobody corrects a file twice. False where it finds no error. */
export async function tellUnusable(loaded: LoadedConfig, print: Printer): Promise<boolean> {
  const { problemsOfParts } = await import('../../config/check/check-parts.ts');
  const problems = inOrder([...loaded.problems, ...(await problemsOfParts(loaded))]);
  if (problems.every(({ level }) => level !== 'error')) return false;
  const { path } = loaded;
  for (const line of problemLines({ path, problems })) print.note(line);
  // Of a file that is not there all has been said.
  if (path !== undefined && existsSync(path)) {
    print.problem(`${shown(path)} cannot be used. Correct it, then run: ${program()} check ${shown(path)}`);
  }
  return true;
}

/** What to do where no configuration is. */
export function missingLines(): string[] {
  return firstLines(surroundings());
}

export function problemLines({ path, problems }: { path: string | undefined; problems: Problem[] }): string[] {
  return problems.map((problem) => toLine(problem, shown(path)));
}

/** As the user would write it. */
export function shown(path: string | undefined): string {
  if (path === undefined) return 'The configuration';
  const near = relative(process.cwd(), path);
  return near === '' || near.startsWith(`..${sep}`) ? path : near;
}
