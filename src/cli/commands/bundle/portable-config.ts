// A configuration that goes into a bundle must work on another machine, where the files next to it are not.
import { enabledServers } from '../../../config/config.ts';
import type { ParleyConfig } from '../../../config/config.ts';
import { isStepFile, splitStep } from '../../../config/normalize-step.ts';
import type { LoadedConfig } from '../../../config/read/load-config.ts';

/** Why it does not; undefined if it does. */
export function notPortable({ path = '', config, texts }: LoadedConfig): string | undefined {
  if (texts.size > 1) return `it reads ${[...texts.keys()].find((file) => file !== path)}, which a bundle has not`;
  if (/\$\{(?:cmd|input):/.test(texts.get(path) ?? ''))
    return 'it has values that only this machine knows: ${cmd:…} or ${input:…}';
  return config && fileNamedBy(config);
}

function fileNamedBy(config: ParleyConfig): string | undefined {
  const step = config.steps.map((form) => splitStep(form).name).find(isStepFile);
  if (step !== undefined) return `it has a step from a file, ${step}, which a bundle has not`;
  for (const [name, server] of enabledServers(config)) {
    if (!('command' in server)) continue;
    const near = [server.command, ...server.args].find((word) => /^\.{1,2}[\\/]/.test(word));
    if (near !== undefined) return `the server ${name} runs ${near}, a file next to it, which a bundle has not`;
  }
  return undefined;
}
