// Where logins are kept between requests. A record is replaced only by one that was made from it (compare and set), so that two
// processes cannot overwrite each other's tokens. Asked before the first request to a server, so it loads nothing of crypto.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { smallDigest } from '../../../kernel/base/short-name.ts';

export interface LoginTokens {
  access: string;
  /** Lower case: `bearer` or `dpop`. */
  type: string;
  refresh?: string | undefined;
  /** Milliseconds; unknown for some. */
  issuedAt: number;
  expiresAt?: number | undefined;
  /** What was granted, else asked for. */
  scope?: string | undefined;
}

/** The client that we are at one authorization server; never used at another. */
export interface LoginClient {
  id: string;
  secret?: string | undefined;
  /** Seconds; 0 or missing: never. */
  secretExpiresAt?: number | undefined;
  method?: string | undefined;
  redirectUrl?: string | undefined;
  kind: 'configured' | 'document' | 'registered';
  /** The authorization server no longer knows it. */
  isForgotten?: boolean | undefined;
}

export interface LoginRecord {
  /** Goes up by one with every change. */
  version: number;
  /** The URL of the MCP server. */
  server: string;
  /** The principal whose login it is, if every user has one. */
  account?: string | undefined;
  issuer: string;
  client: LoginClient;
  tokens?: LoginTokens | undefined;
  /** The private key that tokens are bound to (DPoP), as a JWK. */
  key?: Record<string, unknown> | undefined;
  /** Everything that was ever asked for here. */
  asked?: string | undefined;
  /** The metadata of the authorization server that the login used. */
  authority: Record<string, unknown>;
  resource?: string | undefined;
}

export interface LoginStore {
  /** Whether there may be a record; must be quick. */
  has(key: string): boolean;
  read(key: string): Promise<LoginRecord | undefined>;
  /** Keeps `next` if the stored version is still `version` (0: nothing is stored). False if it is not. */
  write(key: string, next: LoginRecord, version: number): Promise<boolean>;
  remove(key: string): Promise<boolean>;
  keys(): Promise<string[]>;
  /** Binds a configured secret to an issuer, unless it is bound already. Resolves with the issuer that it is bound to. */
  bindIssuer(key: string, issuer: string): Promise<string>;
  unbindIssuer(key: string): Promise<void>;
  /** Runs `work` while nobody else runs work for this key; rejects if that cannot be had in time. It can ask whether that still holds. */
  exclusively<T>(key: string, work: (isSure: () => boolean) => Promise<T>): Promise<T>;
}

/** Logins that end with this process. */
export function createMemoryLogins(): LoginStore {
  const records = new Map<string, LoginRecord>();
  const queues = new Map<string, Promise<unknown>>();
  const issuers = new Map<string, string>();
  return {
    has: (key) => records.has(key),
    read: async (key) => records.get(key),
    write: async (key, next, version) => {
      if ((records.get(key)?.version ?? 0) !== version) return false;
      records.set(key, next);
      return true;
    },
    remove: async (key) => records.delete(key),
    keys: async () => [...records.keys()],
    bindIssuer: async (key, issuer) => {
      if (!issuers.has(key)) issuers.set(key, issuer);
      return issuers.get(key)!;
    },
    unbindIssuer: async (key) => void issuers.delete(key),
    exclusively(key, work) {
      const alone = () => work(() => true);
      const done = (queues.get(key) ?? Promise.resolve()).then(alone, alone);
      const settled = done.catch(() => {});
      queues.set(key, settled);
      void settled.then(() => queues.get(key) === settled && queues.delete(key));
      return done;
    },
  };
}

/** The file of a login in a folder of logins. */
export function loginFile(folder: string, key: string): string {
  return join(folder, `${smallDigest(key)}.login`);
}

/** The file that says which issuer the configured secret of a login is for. */
export function issuerFile(folder: string, key: string): string {
  return join(folder, `${smallDigest(key)}.issuer`);
}

export function hasLoginFile(folder: string, key: string): boolean {
  return existsSync(loginFile(folder, key));
}

export function countLoginFiles(folder: string): number {
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.login')).length : 0;
}
