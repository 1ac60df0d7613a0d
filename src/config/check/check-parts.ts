// Checks what only loading can tell: files of steps and of TLS. Only `check` does this; a gateway finds out when it is built.
import { existsSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { loadStepFile } from '../../gateway/chain/load/load-step.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { readTls } from '../apply/build-gateway.ts';
import { toPemPair } from '../normalize-config.ts';
import type { LoadedConfig } from '../read/load-config.ts';
import { toPathId, ConfigProblems } from './config-problems.ts';
import type { ConfigPath, ConfigProblem } from './config-problems.ts';
import { expressionProblem } from './check-rules.ts';
import { problemsWithReferences } from '../redact-config.ts';
import { hasOptions, isStepFile, splitStep, normalizeStep } from '../normalize-step.ts';

export interface CheckPartsOptions {
  /** Loads the files of steps, which runs them. Default: only checks that they exist. */
  runsSteps?: boolean | undefined;
}

export async function checkParts(
  { path = '', read, used }: LoadedConfig,
  { runsSteps = false }: CheckPartsOptions = {},
): Promise<ConfigProblem[]> {
  if (!read) return [];
  const problems = new ConfigProblems(read.places);
  const folder = dirname(path);
  for (const [index, written] of (read.input.steps ?? []).entries()) {
    const at: ConfigPath = ['steps', index];
    if (written === undefined || isMissing(at, read.missing)) continue;
    const step = normalizeStep(written, folder);
    const { name, options } = splitStep(step);
    if (!isStepFile(name)) continue;
    if (runsSteps) await checkFile({ name, options: hasOptions(step) ? options : undefined, at, folder }, problems);
    else if (!existsSync(name))
      problems.error(at, `${relative(folder, name)}: there is no such file`, 'Correct that file, or the path.');
  }
  for (const [index, rule] of (read.input.rules ?? []).entries()) {
    const at = ['rules', index, 'when'];
    if (rule?.when === undefined || isMissing(at, read.missing)) continue;
    const reason = await expressionProblem(`rules[${index}]`, rule.when);
    if (reason !== undefined) problems.error(at, reason, CEL);
  }
  await checkTls(read, folder, problems);
  return problemsWithReferences(problems.list, used);
}

type ReadConfig = NonNullable<LoadedConfig['read']>;

async function checkTls({ input, missing }: ReadConfig, folder: string, problems: ConfigProblems): Promise<void> {
  const at = ['listen', 'tls'];
  const { listen } = input;
  const isUsed = typeof listen === 'object' && (listen.port !== undefined || !listen.stdio);
  const tls = isUsed ? listen.tls : undefined;
  if (tls?.key === undefined || tls.cert === undefined || isMissing(at, missing)) return; // which has been reported
  await readTls(toPemPair(tls, folder)).catch(({ message }: Error) => {
    problems.error(at, `a file for TLS cannot be read: ${message}`, 'Check the paths.');
  });
}

const CEL = 'Correct the expression; docs/config.md has what it can use.';

interface StepFile {
  name: string;
  options: Record<string, unknown> | undefined;
  at: ConfigPath;
  folder: string;
}

async function checkFile({ name, options, at, folder }: StepFile, problems: ConfigProblems): Promise<void> {
  try {
    const { mayWantOptions } = await loadStepFile(name, options);
    if (!mayWantOptions) return;
    const message =
      'this function takes no exchange and next, as a step does: it looks like one that makes a step of options';
    problems.warn(at, message, `If it does, give them, or {}: { "./${relative(folder, name)}": {} }.`);
  } catch (thrown) {
    const { reason } = thrown instanceof GatewayError ? thrown.details : { reason: (thrown as Error).message };
    problems.error(at, `${relative(folder, name)}: ${String(reason)}`, 'Correct that file, or the path.');
  }
}

/** The unset variable has been reported, and the real name is unknown. */
function isMissing(path: ConfigPath, missing: ReadonlySet<string>): boolean {
  const start = toPathId(path).slice(0, -1);
  return [...missing].some((id) => id.startsWith(start));
}
