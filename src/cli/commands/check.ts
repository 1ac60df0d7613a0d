// `parley check`: reports every problem of a configuration, with its position and what to do. Starts no server.
import { checkParts } from '../../config/check/check-parts.ts';
import { sortProblems } from '../../config/check/config-problems.ts';
import type { ConfigProblem } from '../../config/check/config-problems.ts';
import { configSchema } from '../../config/check/json-schema.ts';
import { enabledServers } from '../../config/config.ts';
import type { ParleyConfig } from '../../config/config.ts';
import { printConfig } from '../../config/redact-config.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import type { CheckCommand } from '../args/serving-commands.ts';
import { readEnvironment, displayPath } from '../environment.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { judgeTrust, howTo, whyNot } from '../trust/judge-trust.ts';
import { toMissingLines, toProblemLines } from '../trust/load-command-config.ts';

export async function runCheck(command: CheckCommand, print: Printer): Promise<number> {
  if (command.schema) {
    print.line(JSON.stringify(configSchema(), undefined, 2));
    return 0;
  }
  const loaded = loadConfig(command.config, readEnvironment());
  const { path, config, used } = loaded;
  const problems = sortProblems([...loaded.problems, ...(await checkParts(loaded, { runsSteps: command.runsSteps }))]);
  const isGood = problems.every(({ level }) => level !== 'error');
  if (command.json) {
    print.line(JSON.stringify({ path: path ?? null, ok: isGood, problems }, undefined, 2));
    return isGood ? 0 : 1;
  }
  if (path === undefined) return tellMissing(print);
  // stdout gets what was asked for: the configuration with --print, else the problems.
  for (const line of toProblemLines({ path, problems })) {
    if (command.print) print.note(line);
    else print.line(line);
  }
  if (config && command.print) print.line(printConfig(withLimits(config), used));
  else print.line(verdict({ path, config, problems, isGood, leftOut: loaded.leftOut }, print));
  tellChanged(loaded, print);
  return isGood ? 0 : 1;
}

/** Printed next to the verdict: the file may be correct but not in effect. */
function tellChanged(loaded: LoadedConfig, print: Printer): void {
  const { path } = loaded;
  if (path !== undefined && judgeTrust(loaded, readEnvironment()) === 'changed')
    print.note(`${whyNot(path, 'changed')} ${howTo(path)}`);
}

/** No file was named or found. What to do next helps more than the list of searched paths. */
function tellMissing(print: Printer): number {
  print.problem('no configuration was found: none was named, and none is here.');
  for (const line of toMissingLines()) print.note(line);
  return 1;
}

interface CheckReport {
  path: string | undefined;
  config: ParleyConfig | undefined;
  problems: ConfigProblem[];
  isGood: boolean;
  leftOut: number;
}

/** The gateway has these defaults; a configuration does not repeat them. */
function withLimits(config: ParleyConfig): ParleyConfig {
  return { ...config, limits: { ...DEFAULT_LIMITS, ...config.limits } };
}

function verdict({ path, config, problems, isGood, leftOut }: CheckReport, print: Printer): string {
  const errors = problems.filter(({ level }) => level === 'error').length;
  const warnings = problems.filter(({ level }) => level === 'warning').length;
  const counts = [
    ...(errors > 0 ? [count(errors, 'error')] : []),
    ...(warnings > 0 ? [count(warnings, 'warning')] : []),
  ];
  if (!isGood || !config) return print.style('red', counts.join(', '));
  const all = Object.keys(config.servers).length;
  const off = all - enabledServers(config).length - leftOut;
  const less = [...(leftOut > 0 ? [`${leftOut} left out`] : []), ...(off > 0 ? [`${off} switched off`] : [])];
  const has = `${displayPath(path)} has ${[count(all, 'server'), ...less].join(', ')}`;
  return [`${print.style('green', 'ok')}: ${has}`, ...counts].join('; ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
