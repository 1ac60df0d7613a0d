// The file with the API keys of this user: names, hashes, scopes. It holds no key itself, and only its owner can read it.
import { join } from 'node:path';
import { isObject } from '../../../protocol/message.ts';
import { sha256 } from '../../../shared/crypto/lazy-crypto.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { readIfThere, writePrivateFile } from '../../../shared/files/private-file.ts';
import type { ApiKeyOptions } from './auth-options.ts';

/** A key as the file has it. */
export interface KeptKey extends Omit<ApiKeyOptions, 'key'> {
  hash: string;
  /** ISO 8601. */
  created?: string | undefined;
}

export const MAX_KEYS = 10_000;
/** Lets people and scanners recognise a key. */
export const KEY_PREFIX = 'parley_';
const NAME = 'api-keys.json';
const HASH = /^sha256:[0-9a-f]{64}$/;

export function keyFileIn(stateFolder: string): string {
  return join(stateFolder, NAME);
}

export function hashKey(key: string): string {
  return `sha256:${sha256(key, 'hex')}`;
}

/** Empty if there is no file. Throws if it cannot be understood, so that `parley key` never overwrites it. */
export function readKeyFile(path: string): KeptKey[] {
  const text = readIfThere(path);
  if (text === undefined) return [];
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (!Array.isArray(keys) || !keys.every(isKept)) throw broken(path);
  return keys;
}

function isKept(value: unknown): value is KeptKey {
  if (!isObject(value)) return false;
  const { name, hash, expires } = value;
  const isDated = expires === undefined || (typeof expires === 'string' && !Number.isNaN(Date.parse(expires)));
  return typeof name === 'string' && typeof hash === 'string' && HASH.test(hash) && isDated;
}

function broken(path: string): GatewayError {
  return new GatewayError('BAD_OPTION', { option: 'auth.keyFile', reason: `${path} is not a file of \`parley key\`` });
}

export function writeKeyFile(path: string, keys: readonly KeptKey[]): void {
  writePrivateFile(path, `${JSON.stringify({ keys }, null, 2)}\n`);
}
