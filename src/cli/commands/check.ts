// `parley check`: all that is wrong with a configuration, each with its place and what to do. Starts no server.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { buildListens } from '../../config/build.ts';
import { enabledServers } from '../../config/config.ts';
import type { ParleyConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/load.ts';
import { configSchema } from '../../config/json-schema.ts';
import { buildSteps } from '../../config/steps.ts';
import type { Problem } from '../../config/problems.ts';
import { printConfig } from '../../config/print.ts';
import { DEFAULT_LIMITS } from '../../shared/limits.ts';
import { createLog } from '../../shared/log.ts';
import { surroundings } from '../around.ts';
import type { CheckCommand } from '../command.ts';
import { missingLines, problemLines, shown } from '../configured.ts';
import type { Printer } from '../print.ts';

export async function check(command: CheckCommand, print: Printer): Promise<number> {
  if (command.schema) {
    print.line(JSON.stringify(configSchema(), undefined, 2));
    return 0;
  }
  const loaded = loadConfig(command.config, surroundings());
  const { path, config, used } = loaded;
  const problems = [...loaded.problems, ...(config && path !== undefined ? await problemsOfParts(config, path) : [])];
  const isGood = problems.every(({ level }) => level !== 'error');
  if (command.json) {
    print.line(JSON.stringify({ path: path ?? null, ok: isGood, problems }, undefined, 2));
    return isGood ? 0 : 1;
  }
  if (path === undefined) return tellMissing(print);
  // What is asked for goes to stdout: the configuration with --print, else the problems.
  for (const line of problemLines({ path, problems })) {
    if (command.print) print.note(line);
    else print.line(line);
  }
  if (config && command.print) print.line(printConfig(withLimits(config), used));
  else print.line(verdict({ path, config, problems, isGood, leftOut: loaded.leftOut }, print));
  return isGood ? 0 : 1;
}

/** None was named, and none is here: what to do says more than where was looked. */
function tellMissing(print: Printer): number {
  print.problem('no configuration was found: none was named, and none is here.');
  for (const line of missingLines()) print.note(line);
  return 1;
}

interface Checked {
  path: string | undefined;
  config: ParleyConfig | undefined;
  problems: Problem[];
  isGood: boolean;
  leftOut: number;
}

/** Their defaults are those of the gateway, which a configuration does not repeat. */
function withLimits(config: ParleyConfig): ParleyConfig {
  return { ...config, limits: { ...DEFAULT_LIMITS, ...config.limits } };
}

/** What can be known only by doing it: files of steps and of TLS are read. */
async function problemsOfParts(config: ParleyConfig, path: string): Promise<Problem[]> {
  const problems: Problem[] = [];
  const tell = (at: string, line: number | undefined, { message }: Error): void => {
    const column = line === undefined ? undefined : 1;
    problems.push({ level: 'error', path: at, line, column, message, hint: 'Correct it.' });
  };
  const log = createLog({ level: 'silent' });
  for (const [index, form] of config.steps.entries()) {
    const [name = ''] = Object.keys(form);
    await buildSteps({ ...config, steps: [form] }, { log }).then(
      (steps) => steps.close(),
      (thrown: Error) => tell(`steps[${index}]`, lineOf(name, path), thrown),
    );
  }
  await buildListens(config).catch((thrown: Error) => tell('listen', undefined, thrown));
  return problems;
}

/** Where the file names it: its normal form has the whole path, the file any part of it. */
function lineOf(name: string, path: string): number | undefined {
  const lines = readFileSync(path, 'utf8').split('\n');
  const at = lines.findIndex((line) => line.includes(basename(name)));
  return at === -1 ? undefined : at + 1;
}

function verdict({ path, config, problems, isGood, leftOut }: Checked, print: Printer): string {
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
  const has = `${shown(path)} has ${[count(all, 'server'), ...less].join(', ')}`;
  return [`${print.style('green', 'ok')}: ${has}`, ...counts].join('; ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
