// `parley check`: all that is wrong with a configuration, each with its place and what to do. Starts no server.
import { buildGateway, buildListens } from '../../config/build.ts';
import { enabledServers } from '../../config/config.ts';
import type { ParleyConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/load.ts';
import type { Problem } from '../../config/problems.ts';
import { printConfig } from '../../config/print.ts';
import { DEFAULT_LIMITS } from '../../shared/limits.ts';
import { createLog } from '../../shared/log.ts';
import { surroundings } from '../around.ts';
import type { CheckCommand } from '../command.ts';
import { problemLines, shown } from '../configured.ts';
import type { Printer } from '../print.ts';

export async function check(command: CheckCommand, print: Printer): Promise<number> {
  const loaded = loadConfig(command.config, surroundings());
  const { path, config, used } = loaded;
  const problems = [...loaded.problems, ...(config ? await problemsOfParts(config) : [])];
  const isGood = problems.every(({ level }) => level !== 'error');
  if (command.json) {
    print.line(JSON.stringify({ path: path ?? null, ok: isGood, problems }, undefined, 2));
    return isGood ? 0 : 1;
  }
  // What is asked for goes to stdout: the configuration with --print, else the problems.
  for (const line of problemLines({ path, problems })) {
    if (command.print) print.note(line);
    else print.line(line);
  }
  if (config && command.print) print.line(printConfig(withLimits(config), used));
  else print.line(verdict({ path, config, problems, isGood }, print));
  return isGood ? 0 : 1;
}

interface Checked {
  path: string | undefined;
  config: ParleyConfig | undefined;
  problems: Problem[];
  isGood: boolean;
}

/** Their defaults are those of the gateway, which a configuration does not repeat. */
function withLimits(config: ParleyConfig): ParleyConfig {
  return { ...config, limits: { ...DEFAULT_LIMITS, ...config.limits } };
}

/** What can be known only by doing it: files of steps and of TLS are read. */
async function problemsOfParts(config: ParleyConfig): Promise<Problem[]> {
  const log = createLog({ level: 'silent' });
  const parts = {
    steps: buildGateway(config, { log }).then(({ steps }) => steps.close()),
    listen: buildListens(config),
  };
  const problems: Problem[] = [];
  for (const [path, made] of Object.entries(parts)) {
    await made.catch(({ message }: Error) => {
      const hint = 'Correct what it names.';
      problems.push({ level: 'error', path, line: undefined, column: undefined, message, hint });
    });
  }
  return problems;
}

function verdict({ path, config, problems, isGood }: Checked, print: Printer): string {
  const errors = problems.filter(({ level }) => level === 'error').length;
  const warnings = problems.length - errors;
  const counts = [
    ...(errors > 0 ? [count(errors, 'error')] : []),
    ...(warnings > 0 ? [count(warnings, 'warning')] : []),
  ];
  if (!isGood || !config) return print.style('red', counts.join(', '));
  const all = Object.keys(config.servers).length;
  const running = enabledServers(config).length;
  const off = all === running ? '' : `, ${all - running} of them switched off`;
  return [`${print.style('green', 'ok')}: ${shown(path)} has ${count(all, 'server')}${off}`, ...counts].join('; ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
