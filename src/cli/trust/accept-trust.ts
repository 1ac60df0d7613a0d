// Judges a configuration, and remembers an edit that only takes away: from then on it is what was trusted. So somebody who can write the file cannot take the
// edit back without being noticed.
import type { Environment } from '../../config/read/find-config.ts';
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { compareWithTrusted, readTrusted } from './judge-trust.ts';
import type { TrustVerdict } from './judge-trust.ts';

export async function acceptTrust(loaded: LoadedConfig, environment: Environment): Promise<TrustVerdict> {
  const { verdict, known, fingerprint } = compareWithTrusted(loaded, environment);
  if (verdict !== 'tighter' || !known || !fingerprint) return verdict;
  const { rememberTrust } = await import('./offer-trust.ts');
  const { describeTrust } = await import('./describe-config.ts');
  try {
    const shown = describeTrust(loaded);
    const isKnown = readTrusted()[loaded.path!]?.digest === known.digest; // `parley trust rm` may have come first
    if (isKnown) rememberTrust(loaded, fingerprint, shown); // what was compared, not what is there by now
  } catch {
    // The folder cannot be written. The edit applies all the same: it takes away.
  }
  return verdict;
}
