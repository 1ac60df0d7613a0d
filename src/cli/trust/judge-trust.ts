// Says whether a configuration may be used. The digest is made of the texts that were read and parsed, not of the files as they are by now, so
// nothing can be changed in between; the sources of steps are read again after they were loaded.
import { sha256 } from '../../shared/crypto/lazy-crypto.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import type { LoadOptions, LoadedConfig } from '../../config/read/load-config.ts';
import type { Environment } from '../../config/read/find-config.ts';
import { isStepFile, splitStep } from '../../config/normalize-step.ts';
import { readCommandSources } from './command-sources.ts';
import { isOwnConfig } from './own-files.ts';
import { readSources } from './step-sources.ts';
import { readTrusted } from './trusted-files.ts';

/** `own`: the user's own, or vouched for by the caller. `changed`: it was trusted before it changed. */
export type TrustVerdict = 'own' | 'trusted' | 'new' | 'changed';

/** Of what was read. */
export function judgeTrust(loaded: LoadedConfig, environment: Environment): TrustVerdict {
  const { path = '' } = loaded;
  if (isOwnConfig(path, environment)) return 'own';
  const known = readTrusted()[path];
  if (!known) return 'new';
  try {
    return known.digest === fingerprintOf(loaded).digest ? 'trusted' : 'changed';
  } catch {
    return 'changed'; // it has too many sources by now; `parley trust` says so
  }
}

/** Of the files as they are at this moment: whether steps may be loaded from them. */
export function isTrustedNow(path: string, options: LoadOptions): boolean {
  return isOwnConfig(path, options) || isUsable(judgeTrust(loadConfig(path, options), options));
}

export function isUsable(verdict: TrustVerdict): boolean {
  return verdict === 'own' || verdict === 'trusted';
}

/** What is trusted: one digest, and those of the files that it is made of, by path. */
export interface Fingerprint {
  digest: string;
  files: Record<string, string>;
}

/** Of the file, its env files, its steps with what they import by path, and the scripts that its commands start. */
export function fingerprintOf(loaded: LoadedConfig): Fingerprint {
  const parts = new Map<string, string | Buffer | undefined>([
    ...readCommandSources(loaded),
    ...readSources(stepFilesOf(loaded)),
    ...loaded.texts,
  ]);
  const files = [...parts].map(([path, text]) => [path, digestOfFile(text)] as const);
  const lines = files.map((file) => JSON.stringify(file)).toSorted();
  return { digest: `sha256:${hash(lines.join('\n'))}`, files: Object.fromEntries(files) };
}

export function digestOfFile(content: string | Buffer | undefined): string {
  return content === undefined ? 'unreadable' : hash(content);
}

function hash(text: string | Buffer): string {
  return sha256(text, 'hex');
}

/** The files of its steps, without those that the user's own configuration adds. */
export function stepFilesOf({ config, ownSteps }: LoadedConfig): string[] {
  const names = (config?.steps ?? []).slice(ownSteps).map((form) => splitStep(form).name);
  return names.filter(isStepFile);
}
