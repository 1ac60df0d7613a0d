// Remembers a configuration as trusted, by the digest of what was read and shown.
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { fingerprintOf } from '../trust/judge-trust.ts';
import type { Fingerprint } from '../trust/judge-trust.ts';
import { readTrusted, writeTrusted } from '../trust/trusted-files.ts';

/** What was shown is what is trusted: the digest is taken before the question. */
export async function askToTrust(loaded: LoadedConfig, shown: string[]): Promise<boolean> {
  const fingerprint = fingerprintOf(loaded);
  const terminal = createTerminal();
  const answer = await terminal.ask('Trust it? [y/N] ');
  terminal.close();
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) return false;
  rememberTrust(loaded.path!, fingerprint, shown);
  return true;
}

/** `shown`: what the user has seen, to compare it when it changes. */
export function rememberTrust(path: string, fingerprint: Fingerprint, shown: string[]): void {
  writeTrusted({ ...readTrusted(), [path]: { ...fingerprint, shown, trusted: new Date().toISOString() } });
}
