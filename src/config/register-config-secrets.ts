// Keeps the secrets of a configuration out of Parley's own words: the values of its references, and what `redactConfig` hides. Those of servers
// are kept where servers are opened (upstream/address.ts), as programs open some without a configuration.
import { registerSecret } from '../shared/secrets/secret-shapes.ts';
import { MASKED } from '../shared/secrets/secrets.ts';
import type { ParleyConfig } from './config.ts';
import { redactConfig } from './redact-config.ts';

export function registerConfigSecrets(config: ParleyConfig | undefined, used: ReadonlyMap<string, string>): void {
  for (const [value, reference] of used) registerSecret(isStored(reference) ? 'secret' : nameIn(reference), value);
  if (!config) return;
  const { keys, flows, auth, ask, listen } = config;
  keepHidden({ keys, flows, auth, ask, listen }, redactConfig(config));
}

/** A file or the output of a command, which nobody uses for anything else. */
function isStored(reference: string): boolean {
  return /^\$\{(?:file|cmd):/.test(reference);
}

function nameIn(reference: string): string {
  return /[A-Za-z_]\w*(?=(?::-[\s\S]*)?\}$)/.exec(reference)?.[0] ?? '';
}

function keepHidden(value: unknown, shown: unknown): void {
  if (typeof value === 'string' && shown === MASKED) return registerSecret('secret', value);
  if (typeof value !== 'object' || value === null || typeof shown !== 'object' || shown === null) return;
  for (const [key, inner] of Object.entries(value)) keepHidden(inner, (shown as Record<string, unknown>)[key]);
}
