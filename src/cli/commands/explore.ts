// `parley explore`: finds the questions of the flows in a file without any effect, and writes them to a file for `serveFlows`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { exploreToStops } from '../../flow/explore/explore-file.ts';
import { describeStop } from '../../flow/explore/exploration.ts';
import type { ExploredFlow } from '../../flow/explore/exploration.ts';
import type { ExploreCommand } from '../args/flow-commands.ts';
import { formatError } from '../terminal/format-error.ts';
import { programName } from '../program.ts';
import type { Printer } from '../../kernel/command/printer.ts';

const MAX_STOPS = 10;

export async function runExplore({ file, out, check }: ExploreCommand, print: Printer): Promise<number> {
  const path = out ?? file.replace(/\.[cm]?[jt]sx?$/, '').concat('.explored.json');
  try {
    const { found, stops } = await exploreToStops(file);
    const text = `${JSON.stringify(found, undefined, 2)}\n`;
    if (check) return checkWritten({ file, path, text }, print);
    writeFileSync(path, text);
    for (const flow of found.flows) {
      print.line(`${flow.name}: ${wordsFor(flow)}`);
      const ends = stops.find((one) => one.flow === flow.name)?.stops ?? [];
      for (const end of ends.slice(0, MAX_STOPS)) print.line(`  stopped ${describeStop(end)}`);
      if (ends.length > MAX_STOPS) print.line(`  and in ${ends.length - MAX_STOPS} more places`);
    }
    print.line(`Written to ${path}`);
    return 0;
  } catch (thrown) {
    print.problem(formatError(thrown));
    return 1;
  }
}

function checkWritten({ file, path, text }: { file: string; path: string; text: string }, print: Printer): number {
  const isThere = existsSync(path);
  if (isThere && readFileSync(path, 'utf8') === text) return 0;
  print.problem(
    `${path} ${isThere ? `is not what ${file} asks now` : 'is missing'}. Write it with: ${programName()} explore ${file}`,
  );
  return 1;
}

function wordsFor({ questions }: ExploredFlow): string {
  const keys = questions.flatMap(({ key }) => (key.includes('#') ? [] : [key])); // leave out further rounds of a loop
  return keys.length === 0 ? 'no questions found' : keys.join(', ');
}
