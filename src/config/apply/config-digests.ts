// Digests of a configuration, by top key, by which gateways that serve as one see that theirs differ. Secrets count as what they are called, but for those
// of `auth`: who may come in at one gateway and not at another is what people look for. Digests stay among gateways with the same `keys`.
import { dirname } from 'node:path';
import { sha256 } from '../../kernel/crypto/lazy-crypto.ts';
import type { ParleyConfig } from '../config.ts';
import { redactConfig } from '../redact-config.ts';

interface DigestedConfig {
  readonly config: ParleyConfig;
  readonly used: ReadonlyMap<string, string>;
  /** Of the file: machines may have it in different folders. */
  readonly path: string;
}

/** What belongs to one machine. */
const OWN = new Set<string>(['cluster', 'log', 'console'] satisfies (keyof ParleyConfig)[]);
const LENGTH = 16;

export function digestConfig({ config, used, path }: DigestedConfig): Readonly<Record<string, string>> {
  const { port: _port, host: _host, tls: _tls, stdio: _stdio, ...listen } = config.listen;
  const shown = { ...redactConfig(config, used), listen, auth: config.auth };
  const folder = dirname(path);
  const entries = Object.entries(shown).filter(([key, value]) => !OWN.has(key) && value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, digestOf(value, folder)]));
}

function digestOf(value: unknown, folder: string): string {
  const text = JSON.stringify(sorted(value)).replaceAll(JSON.stringify(folder).slice(1, -1), '.');
  return sha256(text, 'base64url').slice(0, LENGTH);
}

/** The order of members decides nothing, but for that of servers, where it decides who keeps a name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
