// Says what is wrong with a configuration that is served all the same.
import { formatProblem } from '../../../config/check/config-problems.ts';
import type { ConfigProblem } from '../../../config/check/config-problems.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { displayPath } from '../../environment.ts';

interface Problematic {
  path: string | undefined;
  problems: ConfigProblem[];
}

export function tellProblems({ path, problems }: Problematic, print: Printer): void {
  for (const problem of problems) {
    const line = formatProblem(problem, displayPath(problem.file ?? path));
    if (problem.level === 'note') print.note(line);
    else print.warning(line);
  }
}
