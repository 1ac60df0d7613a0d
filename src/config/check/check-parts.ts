// What can be known only by doing it: files of steps are loaded, those of TLS read. For `check` alone: a gateway finds it out when it
// is built.
import { dirname, relative } from 'node:path';
import { loadStepFile } from '../../gateway/middleware/load/load-step.ts';
import { GatewayError } from '../../shared/errors.ts';
import { buildListens } from '../apply/build.ts';
import type { LoadedConfig } from '../read/load.ts';
import { toId } from '../read/places.ts';
import type { Path } from '../read/places.ts';
import { Problems } from './problems.ts';
import type { Problem } from './problems.ts';
import { isStepFile, toParts, toStepForm } from '../step-form.ts';

export async function problemsOfParts({ path = '', config, read }: LoadedConfig): Promise<Problem[]> {
  if (!read) return [];
  const problems = new Problems(read.places);
  const folder = dirname(path);
  for (const [index, written] of (read.input.steps ?? []).entries()) {
    const at: Path = ['steps', index];
    if (written === undefined || isMissing(at, read.missing)) continue;
    const { name, options } = toParts(toStepForm(written, folder));
    if (isStepFile(name)) await checkFile({ name, options, at, folder }, problems);
  }
  if (config) {
    await buildListens(config).catch(({ message }: Error) => {
      problems.error(['listen', 'tls'], `a file for TLS cannot be read: ${message}`, 'Check the paths.');
    });
  }
  return problems.list;
}

interface StepFile {
  name: string;
  options: Record<string, unknown>;
  at: Path;
  folder: string;
}

async function checkFile({ name, options, at, folder }: StepFile, problems: Problems): Promise<void> {
  try {
    const { mayWantOptions } = await loadStepFile(name, options);
    if (!mayWantOptions) return;
    const message = 'this function takes one parameter, as one does that makes a step of options';
    problems.warn(at, message, `If it does, give them: { "./${relative(folder, name)}": { … } }.`);
  } catch (thrown) {
    const { reason } = thrown instanceof GatewayError ? thrown.details : { reason: (thrown as Error).message };
    problems.error(at, `${relative(folder, name)}: ${String(reason)}`, 'Correct that file, or the path.');
  }
}

/** A variable that is not set has been reported, and what it stands for is not known. */
function isMissing(path: Path, missing: ReadonlySet<string>): boolean {
  const start = toId(path).slice(0, -1);
  return [...missing].some((id) => id.startsWith(start));
}
