// Says whether a configuration may be used: it is the user's own, or the user has trusted it as it is. Otherwise nothing that it names is
// started, imported or contacted. What is trusted is kept in a file that only the user can write.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, resolve, join, dirname } from 'node:path';
import { enabledServers } from '../../config/config.ts';
import { isUsersFile } from '../../config/read/client-places.ts';
import type { Environment } from '../../config/read/find-config.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import { parseConfig } from '../../config/read/parse-config.ts';
import type { LoadOptions, LoadedConfig } from '../../config/read/load-config.ts';
import type { CommandAddress } from '../../mcp/connect/address.ts';
import { isObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { isInside } from '../../kernel/files/paths.ts';
import { writePrivateFile } from '../../kernel/files/private-file.ts';
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';
import { printableLine } from '../../kernel/base/visible.ts';
import { readEnvironment, displayPath } from '../environment.ts';
import { programName } from '../program.ts';
import { digestOfFile, fingerprintOf, sourcesOfCommand } from './code-sources.ts';
import type { Fingerprint } from './code-sources.ts';
import { onlyTightens } from './only-tightens.ts';
import type { WrittenShape } from './only-tightens.ts';

/**
 * `own`: the user's own, or vouched for by the caller. `tighter`: it has changed since it was trusted, and only takes away. `changed`: it was trusted before it
 * changed. `unbound`: it would send a secret to any issuer.
 */
export type TrustVerdict = 'own' | 'trusted' | 'tighter' | 'new' | 'changed' | 'unbound';

/** A variable that only the caller can set: files and folders whose configurations are trusted, as PATH separates them. */
const VOUCHED = 'PARLEY_TRUST';

const OTHERS_WRITE = 0o022;

interface TrustJudgement {
  verdict: TrustVerdict;
  /** What was trusted, and what was compared with it. */
  known?: TrustedFile;
  fingerprint?: Fingerprint;
}

/** Of what was read. */
export function judgeTrust(loaded: LoadedConfig, environment: Environment): TrustVerdict {
  return compareWithTrusted(loaded, environment).verdict;
}

export function compareWithTrusted(loaded: LoadedConfig, environment: Environment): TrustJudgement {
  const { path = '' } = loaded;
  if (isOwnConfig(path, environment)) return { verdict: 'own' };
  if (unboundServers(loaded).length > 0) return { verdict: 'unbound' };
  const known = readTrusted()[path];
  if (!known) return { verdict: 'new' };
  try {
    const fingerprint = fingerprintOf(loaded);
    if (known.digest === fingerprint.digest) return { verdict: 'trusted' };
    return { verdict: isTighter(known, loaded, fingerprint) ? 'tighter' : 'changed', known, fingerprint };
  } catch {
    return { verdict: 'changed' }; // it has too many sources by now; `parley trust` says so
  }
}

/** Nothing but the text of the file itself has changed, and that only takes away. What belonged to a server that is gone is still there, as it was. */
function isTighter(known: TrustedFile, loaded: LoadedConfig, { files }: Fingerprint): boolean {
  const { path = '' } = loaded;
  const { files: trusted, written } = known;
  const now = writtenIn(loaded);
  if (!trusted || written === undefined || !now) return false;
  const isSame = (file: string): boolean => file === path || trusted[file] === (files[file] ?? digestOfFile(file));
  return [...new Set([...Object.keys(files), ...Object.keys(trusted)])].every(isSame) && onlyTightens(written, now);
}

/** What the file says, before variables are filled in. */
export function writtenIn({ path = '', texts }: LoadedConfig): Record<string, unknown> | undefined {
  return parseConfig((texts.get(path) ?? '').replace(/^\uFEFF/, ''), path).value;
}

/** Servers that get a secret of this machine for their login, and do not say whose login it is: the server itself could name any. */
export function unboundServers({ config }: LoadedConfig): string[] {
  return (config ? enabledServers(config) : []).flatMap(([name, server]) => {
    const { issuer, grant, clientSecret, clientKey, assertion, assertionFile } =
      ('auth' in server && server.auth) || {};
    const isSecret = [clientSecret, clientKey, assertion, assertionFile].some((one) => one !== undefined);
    // What is exchanged goes to the endpoint that the file names.
    return isSecret && issuer === undefined && grant !== 'token_exchange' ? [name] : [];
  });
}

/** In the user's config folder, a client's file in the home, or vouched for by the caller. */
export function isOwnConfig(path: string, environment: Environment): boolean {
  return isUsersFile(path, environment) || vouchedFor(environment).some((one) => path === one || isInside(path, one));
}

function vouchedFor({ env }: Environment): string[] {
  const named = (env[VOUCHED] ?? '').split(delimiter).filter((one) => isAbsolute(one));
  return named.map((one) => resolve(one));
}

export interface TrustedFile {
  digest: string;
  /** ISO 8601. */
  trusted: string;
  /** What was shown, and the digest of each file by path, to say what has changed. */
  shown?: string[];
  files?: Record<string, string>;
  /** Files and folders that the configuration declares to be data. */
  data?: string[];
  /** What the file said, to see whether an edit only takes away. */
  written?: WrittenShape;
}

/** By path. Empty if the file does not exist, or if others could have written it: then nothing is trusted. */
export function readTrusted(): Record<string, TrustedFile> {
  let file: number | undefined;
  try {
    file = openSync(trustFile(), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { mode, uid } = fstatSync(file);
    const isForeign = process.getuid !== undefined && (uid !== process.getuid() || (mode & OTHERS_WRITE) !== 0);
    const { files } = isForeign ? {} : (JSON.parse(readFileSync(file, 'utf8')) as { files?: unknown });
    const entries = Object.entries(isObject(files) ? files : {}).filter(
      (entry): entry is [string, TrustedFile & Record<string, unknown>] =>
        isObject(entry[1]) && typeof entry[1]['digest'] === 'string',
    );
    return Object.fromEntries(entries);
  } catch {
    return {};
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The configurations that this user has trusted. Only the user can read or write it. */
export function trustFile(): string {
  return join(ownStateFolder(), 'trusted.json');
}

export function writeTrusted(files: Record<string, TrustedFile>): void {
  writePrivateFile(trustFile(), `${JSON.stringify({ files }, undefined, 2)}\n`);
}

/** Of the files as they are at this moment: whether steps may be loaded from them. */
export function isTrustedNow(path: string, options: LoadOptions): boolean {
  return isOwnConfig(path, options) || isUsable(judgeTrust(loadConfig(path, options), options));
}

export function isUsable(verdict: TrustVerdict): boolean {
  return verdict === 'own' || verdict === 'trusted' || verdict === 'tighter';
}

export function whyNot(path: string, verdict: TrustVerdict): string {
  const what = displayPath(path);
  if (verdict === 'unbound') return `${what} ${UNBOUND}`;
  return verdict === 'changed'
    ? `${what} has changed since you trusted it, or code that it runs has, or an env file.`
    : `${what} is not trusted yet: nothing of it is started.`;
}

const UNBOUND =
  'has a secret for the login of a server, and does not say for which issuer, so that the server could name any. Add "issuer" to "auth" of the server.';

export function whyUnbound(loaded: LoadedConfig): string {
  return `${displayPath(loaded.path)}: ${unboundServers(loaded).map(printableLine).join(', ')}: ${UNBOUND}`;
}

export function howTo(path: string): string {
  return `If you know where it comes from: ${programName()} trust ${quoted(displayPath(path))}`;
}

function quoted(path: string): string {
  return /^[\w@%+=:,./~-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Compares the code of a server with what was trusted, each time before its command is started: a script may change while the gateway runs, and
 * servers are started again after a crash, after a pause, and for other clients. Throws if it has changed. Undefined if the file needs no trust.
 */
export function createStartCheck(path: string): ((address: CommandAddress) => void) | undefined {
  if (isOwnConfig(path, readEnvironment())) return undefined;
  return (address) => {
    const { files: trusted = {}, data } = readTrusted()[path] ?? {};
    for (const [file, digest] of sourcesOfCommand({ ...address, data }, dirname(path))) {
      if (trusted[file] !== digest) throw new GatewayError('UPSTREAM_UNTRUSTED', { server: address.command });
    }
  };
}
