// The file with the browsers that this user has paired, and with the codes that still may be used. It holds hashes, never a cookie
// or a code, and only its owner can read it.
import { join } from 'node:path';
import { isObject } from '../../../protocol/message.ts';
import { sha256 } from '../../../shared/crypto/lazy-crypto.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { readIfThere, writePrivateFile } from '../../../shared/files/private-file.ts';

interface Kept {
  readonly hash: string;
  /** What the gateway serves: a configuration file or a wrapped command. */
  readonly gateway: string;
  /** Whose questions it may answer, where users log in. */
  readonly user?: string | undefined;
}

export interface PairedBrowser extends Kept {
  readonly name: string;
  /** ISO 8601. */
  readonly created: string;
}

export interface Invitation extends Kept {
  /** Wall-clock time in ms. */
  readonly expires: number;
}

export interface PairingRecords {
  readonly browsers: readonly PairedBrowser[];
  readonly invitations: readonly Invitation[];
}

const NAME = 'pairings.json';
const NOTHING: PairingRecords = { browsers: [], invitations: [] };

export function pairingFileIn(stateFolder: string): string {
  return join(stateFolder, NAME);
}

export function hashOf(secret: string): string {
  return `sha256:${sha256(secret, 'hex')}`;
}

/** Nothing if there is no file. Throws if it cannot be understood, so that it is never overwritten. */
export function readPairingFile(path: string): PairingRecords {
  const text = readIfThere(path);
  if (text === undefined) return NOTHING;
  const { browsers, invitations } = JSON.parse(text) as Partial<Record<keyof PairingRecords, unknown>>;
  if (!isList(browsers, 'name') || !isList(invitations, 'expires')) {
    throw new GatewayError('BAD_OPTION', { option: 'stateFolder', reason: `${path} is not a file of \`parley pair\`` });
  }
  return { browsers, invitations } as unknown as PairingRecords;
}

export function writePairingFile(path: string, records: PairingRecords): void {
  writePrivateFile(path, `${JSON.stringify(records, null, 2)}\n`);
}

function isList(value: unknown, field: string): value is object[] {
  const isKept = (one: unknown): boolean =>
    isObject(one) && typeof one.hash === 'string' && typeof one.gateway === 'string' && field in one;
  return Array.isArray(value) && value.every(isKept);
}
