// Normalizes `auth`: issuers as objects, paths absolute.
import { resolve } from 'node:path';
import type { AuthInput } from './check/auth-shape.ts';
import type { AuthConfig } from './config.ts';

export function normalizeAuth({ keyFile, issuers, front, ...rest }: AuthInput, folder: string): AuthConfig {
  const written = issuers?.map((issuer) => (typeof issuer === 'string' ? { issuer } : issuer));
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path));
  const before = front && { ...front, folder: at(front.folder) };
  const all = { ...rest, keyFile: at(keyFile), issuers: written, front: before };
  return clean(all) as AuthConfig;
}

/** Drops undefined keys, which would disturb comparisons. */
function clean(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([key, inner]) => [key, clean(inner)]));
}
