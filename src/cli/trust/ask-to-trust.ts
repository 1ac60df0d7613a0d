// Remembers a configuration as trusted, by the digest of what was read and shown.
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { digestOf } from './judge-trust.ts';
import { readTrusted, writeTrusted } from './trusted-files.ts';

/** What was shown is what is trusted: the digest is taken before the question. */
export async function askToTrust(loaded: LoadedConfig): Promise<boolean> {
  const digest = digestOf(loaded);
  const terminal = createTerminal();
  const answer = await terminal.ask('Trust it? [y/N] ');
  terminal.close();
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) return false;
  rememberTrust(loaded.path!, digest);
  return true;
}

export function rememberTrust(path: string, digest: string): void {
  writeTrusted({ ...readTrusted(), [path]: { digest, trusted: new Date().toISOString() } });
}
